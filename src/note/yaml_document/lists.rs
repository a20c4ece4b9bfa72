//! Candidate texts with other items in a list field.

use std::ops::Range;

use super::super::list_fields::{items, retargeted_text, with_renamed};
use super::super::splice::{splice, with_spans};
use super::super::value::{Value, is_null_text};
use super::super::yaml::{Yaml, YamlNode};
use super::super::yaml_emitter::{flow, looks_typed, scalar};
use super::{YamlDocument, entry_line, name_of};

impl YamlDocument<'_> {
    /// Returns candidates with more items in a list, in the style of the list.
    pub(in super::super) fn add_items(&self, key: &str, new: &[Value]) -> Vec<String> {
        let in_brackets = || new.iter().map(flow).collect::<Vec<_>>().join(", ");
        let whole = |is_on_line: bool| {
            if is_on_line { format!(" [{}]", in_brackets()) } else { as_field_value(new, self.line_end) }
        };
        let Some((name, list)) = self.entry(key) else {
            return self.with_field(&format!("{key}:{}", whole(self.brace.is_some())));
        };
        let with_first_items =
            || vec![self.replaced(self.after_colon(name, list), &whole(self.needs_line(name, list)))];
        match &list.kind {
            // The items of a set or of an ordered map have another form.
            YamlNode::List(_) if self.tag(name, list).is_some_and(|tag| tag != "!!seq") => Vec::new(),
            YamlNode::Scalar { text, plain: true } if is_null_text(text) => with_first_items(),
            YamlNode::List(items) if items.is_empty() && !self.has_comment(list.span.clone()) => with_first_items(),
            YamlNode::List(items) if self.is_flow(list) => {
                let last = items.last().map(|item| self.end(item));
                let (range, new) = self.flow_insertion(list.span.start, last, &in_brackets());
                vec![self.replaced(range, &new)]
            }
            YamlNode::List(items) => {
                let Some(last) = items.last() else { return Vec::new() };
                let dash = self.yaml.get(self.line_start(last.span.start)..last.span.start).unwrap_or_default();
                let offset = self.next_line(self.end(list));
                let as_block: Vec<String> = new.iter().map(|item| block_item(item, dash, self.line_end)).collect();
                let as_flow: Vec<String> = new.iter().map(|item| format!("{dash}{}", flow(item))).collect();
                [as_block, as_flow].map(|lines| self.with_line_at(offset, &lines.join(self.line_end))).into()
            }
            // A single value becomes the first item, and a text of tags several items.
            YamlNode::Scalar { .. } => {
                let mut all: Vec<String> = items(key, &Value::from_yaml(list)).iter().map(flow).collect();
                all.push(in_brackets());
                self.with_new_value(name, list, &format!("[{}]", all.join(", ")))
            }
            YamlNode::Map(_) => Vec::new(),
        }
    }

    /// Returns a candidate with another target in some links. Links that become equal all stay: readers treat them as
    /// one, and each of their lines may carry a comment or fields of its own.
    pub(in super::super) fn retarget(&self, key: &str, is_old: &dyn Fn(&Value) -> bool, to: &str) -> Vec<String> {
        let Some((_, node)) = self.entry(key) else { return Vec::new() };
        let items = match &node.kind {
            YamlNode::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let replacement = |item: &Yaml<'_>| {
            let target = target(item);
            let new = match &target.kind {
                YamlNode::Scalar { text, plain } => {
                    let text = retargeted_text(text, to);
                    Value::Text { plain: *plain && !looks_typed(&text), text }
                }
                _ => Value::text(to),
            };
            (target.span.start..self.end(target), flow(&new))
        };
        let old = items.iter().filter(|item| is_old(&Value::from_yaml(item)));
        with_spans(self.yaml, old.map(replacement).collect()).into_iter().collect()
    }

    pub(in super::super) fn remove_items(&self, key: &str, is_unwanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let YamlNode::List(nodes) = &list.kind else {
            let mut kept = items(key, &Value::from_yaml(list));
            kept.retain(|item| !is_unwanted(item));
            return self.with_new_value(name, list, &flow(&Value::List(kept)));
        };
        let is_removed: Vec<bool> = nodes.iter().map(|item| is_unwanted(&Value::from_yaml(item))).collect();
        let has_none_left = is_removed.iter().all(|is_removed| *is_removed);
        let colon = self.after_colon(name, list);
        if has_none_left && !self.has_comment(colon.clone()) {
            return vec![self.replaced(colon, " []")];
        }
        let text = self.without_elements(list, &self.item_spans(nodes), &is_removed);
        let empty = if has_none_left && !self.is_flow(list) { " []" } else { "" };
        vec![splice(&text, colon.start..colon.start, empty)]
    }

    /// Returns candidates with a renamed item. Of items that become equal the first stays, with the comments of all.
    pub(in super::super) fn rename_item(&self, key: &str, from: &str, to: &str) -> Vec<String> {
        let Some((name, list)) = self.entry(key) else { return Vec::new() };
        let YamlNode::List(nodes) = &list.kind else {
            let renamed = with_renamed(key, &Value::from_yaml(list), from, to);
            return self.with_new_value(name, list, &flow(&renamed));
        };
        let is_either = |item: &Yaml<'_>| [from, to].contains(&name_of(item).trim());
        let Some(first) = nodes.iter().position(is_either) else { return Vec::new() };
        let is_removed = |index: usize| index > first && nodes.get(index).is_some_and(is_either);
        let spans = self.item_spans(nodes);
        let removed = if self.is_flow(list) {
            self.flow_ranges(&spans, &is_removed)
        } else {
            let removed = spans.iter().enumerate().filter(|(index, _)| is_removed(*index));
            removed.map(|(_, span)| self.item_without_comment(span)).collect()
        };
        let text = self.without(removed);
        let has_old_name = nodes.get(first).is_some_and(|item| name_of(item).trim() == from);
        match spans.get(first).filter(|_| has_old_name) {
            Some(span) => vec![splice(&text, span.clone(), &scalar(to, false))],
            None => vec![text],
        }
    }

    fn item_spans(&self, nodes: &[Yaml<'_>]) -> Vec<Range<usize>> {
        nodes.iter().map(|item| item.span.start..self.end(item)).collect()
    }

    /// Returns the range of an item of a block list: its lines, or the part before a comment on its last line.
    fn item_without_comment(&self, item: &Range<usize>) -> Range<usize> {
        let (start, next_line) = (self.line_start(item.start), self.next_line(item.end));
        let comment = self.yaml.get(item.end..next_line).and_then(|rest| rest.find('#'));
        let dash = self.yaml.get(start..item.start).unwrap_or_default();
        let indent = dash.len() - dash.trim_start().len();
        comment.map_or(start..next_line, |comment| start + indent..item.end + comment)
    }
}

fn target<'n, 'a>(item: &'n Yaml<'a>) -> &'n Yaml<'a> {
    match &item.kind {
        YamlNode::Map(entries) => {
            let id = entries.iter().find(|(key, _)| name_of(key) == "id");
            id.map_or(item, |(_, value)| target(value))
        }
        YamlNode::List(items) => match items.as_slice() {
            [one] => target(one),
            _ => item,
        },
        YamlNode::Scalar { .. } => item,
    }
}

/// Writes an item of a block list; `dash` is the indentation and the dash of the other items.
fn block_item(item: &Value, dash: &str, line_end: &str) -> String {
    match item {
        Value::Map(entries) if !entries.is_empty() => {
            let indent = " ".repeat(dash.len());
            let entries: Vec<_> = entries.iter().map(|(key, value)| entry_line(key, &flow(value))).collect();
            format!("{dash}{}", entries.join(&format!("{line_end}{indent}")))
        }
        value => format!("{dash}{}", flow(value)),
    }
}

/// Writes the value of a new list field, from its colon: a block list if the first item is a map, else a flow list.
fn as_field_value(items: &[Value], line_end: &str) -> String {
    if let Some(Value::Map(_)) = items.first() {
        let lines: Vec<String> = items.iter().map(|item| block_item(item, "  - ", line_end)).collect();
        return format!("{line_end}{}", lines.join(line_end));
    }
    format!(" [{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
}
