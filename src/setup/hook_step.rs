//! One hook in a tool's JSON settings, which may hold comments: put in and taken out as a splice, so that
//! every other byte stays.
//!
//! Ours comes first in its list, and lists that are not there come first in theirs: what stands right
//! behind an opening bracket can be taken out again without guessing.

use anyhow::{Result, bail};
use jsonc_parser::ast::{Array, Object, Value};

use super::json_item::{LineStyle, cut, expect_once, first, property, range, range_of, root, written};

/// Where hooks for the start of a session stand.
const HOOKS: &str = "hooks";
const EVENT: &str = "SessionStart";

/// How a command of ours begins.
const COMMAND: &str = "qipu prime --hook";

/// How much of what is needed a file holds already: a file, a map in it, the hooks, the list of the event.
pub(super) type PriorDepth = u8;

/// How our hook stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookStatus {
    Missing,
    Current,
    Other,
}

/// What a file says, as far as it is about hooks.
struct HookFile<'a> {
    text: &'a str,
    root: Option<Object<'a>>,
}

impl<'a> HookFile<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let root = root(text)?;
        if let Some(root) = &root {
            expect_once(root, HOOKS)?;
            if let Some(Value::Object(hooks)) = property(root, HOOKS) {
                expect_once(hooks, EVENT)?;
            }
        }
        Ok(Self { text, root })
    }

    fn hooks(&self) -> Result<Option<&Object<'a>>> {
        match self.root.as_ref().and_then(|root| property(root, HOOKS)) {
            None => Ok(None),
            Some(Value::Object(hooks)) => Ok(Some(hooks)),
            Some(_) => bail!("`{HOOKS}` is not a map"),
        }
    }

    fn event(&self) -> Result<Option<&Array<'a>>> {
        match self.hooks()?.and_then(|hooks| property(hooks, EVENT)) {
            None => Ok(None),
            Some(Value::Array(event)) => Ok(Some(event)),
            Some(_) => bail!("`{EVENT}` is not a list"),
        }
    }

    fn level(&self) -> Result<PriorDepth> {
        Ok(match (&self.root, self.hooks()?, self.event()?) {
            (None, ..) => 1,
            (_, None, _) => 2,
            (_, _, None) => 3,
            _ => 4,
        })
    }

    /// Finds our hook in the list of the event.
    fn ours(&self) -> Result<Option<&Value<'a>>> {
        let of_us = |entry: &&Value<'a>| {
            let hooks = entry.as_object().and_then(|entry| entry.get_array(HOOKS));
            let hooks = hooks.map(|hooks| hooks.elements.as_slice()).unwrap_or_default();
            let commands = hooks.iter().filter_map(|hook| hook.as_object()?.get_string("command"));
            commands.into_iter().any(|command| command.value.starts_with(COMMAND))
        };
        Ok(self.event()?.and_then(|event| event.elements.iter().find(of_us)))
    }
}

/// Tells how much of what our hook needs is there.
///
/// # Errors
/// When the file is not JSON, or holds something else where hooks are expected.
pub(super) fn level(text: Option<&str>) -> Result<PriorDepth> {
    text.map_or(Ok(0), |text| HookFile::parse(text)?.level())
}

/// Tells how our hook stands.
///
/// # Errors
/// As [`level`].
pub(super) fn find(text: &str, hook: &serde_json::Value) -> Result<HookStatus> {
    let settings = HookFile::parse(text)?;
    let ours = settings.ours()?.map(|ours| settings.text.get(range(ours)).unwrap_or_default());
    let said = ours.map(|ours| serde_json::from_str::<serde_json::Value>(ours).ok());
    Ok(match said {
        None => HookStatus::Missing,
        Some(Some(said)) if said == *hook => HookStatus::Current,
        Some(_) => HookStatus::Other,
    })
}

/// Returns the file's text with our hook.
///
/// # Errors
/// As [`level`]; or when taking it out would not give back the text as it was.
pub(super) fn with(old: Option<&str>, hook: &serde_json::Value) -> Result<String> {
    let text = old.unwrap_or_default();
    let settings = HookFile::parse(text)?;
    let list = || serde_json::Value::Array(vec![hook.clone()]);
    let map = || serde_json::json!({ EVENT: list() });
    let new = match (&settings.root, settings.hooks()?, settings.event()?) {
        (None, ..) => {
            let end = if old.is_none() { "\n" } else { "" };
            format!("{}{end}{text}", written(&serde_json::json!({ HOOKS: map() }), "", "\n"))
        }
        (Some(root), None, _) => {
            first(text, range_of(&root.range), root.properties.first().map(range), Some(HOOKS), &plain(&map()))
        }
        (_, Some(hooks), None) => {
            first(text, range_of(&hooks.range), hooks.properties.first().map(range), Some(EVENT), &plain(&list()))
        }
        (_, _, Some(event)) => {
            first(text, range_of(&event.range), event.elements.first().map(range), None, &plain(hook))
        }
    };
    let back = without(&new, level(old)?)?;
    if find(&new, hook)? != HookStatus::Current || back.as_deref() != old {
        bail!("it is written in a way that nothing can be added to and taken out again");
    }
    Ok(new)
}

/// Returns how a value is written where there is room for lines, and where there is none.
fn plain(value: &serde_json::Value) -> impl Fn(LineStyle<'_>) -> String {
    move |place| match place {
        Some((indent, line_end)) => written(value, indent, line_end),
        None => value.to_string(),
    }
}

/// Returns the file's text without our hook and without what was made for it; nothing where that is
/// the whole file.
///
/// # Errors
/// As [`level`].
pub(super) fn without(text: &str, made_from: PriorDepth) -> Result<Option<String>> {
    let settings = HookFile::parse(text)?;
    let (Some(root), Some(hooks), Some(event), Some(ours)) =
        (&settings.root, settings.hooks()?, settings.event()?, settings.ours()?)
    else {
        return Ok(Some(text.to_owned()));
    };
    let own = |object: &Object<'_>, name: &str| {
        object.properties.iter().find(|property| property.name.as_str() == name).map(range).unwrap_or_default()
    };
    if made_from >= 4 || event.elements.len() > 1 {
        return Ok(Some(cut(text, range(ours))));
    }
    if made_from == 3 || hooks.properties.len() > 1 {
        return Ok(Some(cut(text, own(hooks, EVENT))));
    }
    if made_from == 2 || root.properties.len() > 1 {
        return Ok(Some(cut(text, own(root, HOOKS))));
    }
    let range = range_of(&root.range);
    let rest = format!("{}{}", text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
    Ok((made_from > 0 || !rest.trim().is_empty()).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> serde_json::Value {
        serde_json::json!({"matcher": "x", "hooks": [{"type": "command", "command": "qipu prime --hook claude"}]})
    }

    #[test]
    fn what_is_put_in_is_taken_out_to_the_byte() {
        let texts = [
            "",
            "\n",
            "{}",
            "{ }",
            "{\n}\n",
            "{\"a\":1}",
            "{ \"a\": 1 }\n",
            "{\n  \"a\": 1\n}\n",
            "{\r\n\t\"a\": 1,\r\n}\r\n",
            "// mine\n{ // c, }\n  // d\n  \"a\": [1, /* x */ 2],\n  \"b\": {}, // e\n}\n// end",
            "{\n\n\n    \"a\": 1}",
            "{\"hooks\":{}}",
            "{\"hooks\": {\"Stop\": []}}",
            "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}",
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n",
            "{\n  \"hooks\": { /* none yet */ \"SessionStart\": [ ] } }",
            "/* only a comment */\n",
        ];
        for old in texts.into_iter().map(Some).chain([None]) {
            let new = with(old, &hook()).unwrap_or_else(|error| panic!("{old:?}: {error}"));
            assert_eq!(find(&new, &hook()).unwrap(), HookStatus::Current, "{new}");
            assert_eq!(without(&new, level(old).unwrap()).unwrap().as_deref(), old, "{new}");
        }
    }

    #[test]
    fn what_is_no_settings_is_refused() {
        let twice = ["{\"hooks\": {}, \"hooks\": {}}", "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": []}}"];
        for text in twice {
            assert!(with(Some(text), &hook()).unwrap_err().to_string().contains("there 2 times"));
        }
        for text in ["[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"SessionStart\": {}}}", "x", &"[".repeat(100_000)] {
            assert!(with(Some(text), &hook()).is_err());
        }
        let other =
            with(Some("{}"), &serde_json::json!({"hooks": [{"command": "qipu prime --hook gemini -x"}]})).unwrap();
        assert_eq!(find(&other, &hook()).unwrap(), HookStatus::Other);
    }

    #[test]
    fn what_the_user_adds_stays() {
        let new = with(None, &hook()).unwrap();
        let added = new.replacen("{\n", "{\n  \"model\": \"x\",\n", 1);
        assert_eq!(without(&added, 0).unwrap().as_deref(), Some("{\n  \"model\": \"x\"\n}\n"));
    }
}
