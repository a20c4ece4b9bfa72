"""Uses every feature of `qipu lsp` through pytest-lsp, with the capabilities of several editors.

pytest-lsp also checks that no answer needs a capability that the editor lacks.
"""
import asyncio
import os
import pathlib
import shutil
import tempfile
import warnings

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, LspSpecificationWarning, client_capabilities

EDITORS = ["neovim@v0.7.0", "neovim@latest", "visual-studio-code@latest", "emacs@latest"]
FIXTURE = pathlib.Path(__file__).parents[2] / "fixtures" / "research"
NOTE = "notes/qp-b5n2-write-returns-from-the-page-cache.md"
TEXT = """---
id: qp-new
title: A new note
type: fleeting
tags: [fsync]
links:
- type: supports
  id: qp-b5n2
---

# A new note

## Part é 😀

See [[qp-b5n2]] and [[nowhere]], [[A new note#Part é 😀]].

## Rest

Done. [[fsy
"""

pytestmark = pytest.mark.filterwarnings(f"error::{LspSpecificationWarning.__module__}.LspSpecificationWarning")


@pytest_lsp.fixture(params=EDITORS, config=ClientServerConfig(server_command=[os.environ["QIPU"], "lsp", "--today", "2025-06-15"]))
async def client(request, lsp_client: LanguageClient):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve() / "project"
        shutil.copytree(FIXTURE, root)
        (root / "Cargo.toml").write_text("")
        lsp_client.root = root
        # Some editors take the registration of watched files, which pytest-lsp has no handler for.
        lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
        await lsp_client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities(request.param),
                root_uri=root.as_uri(),
                workspace_folders=[types.WorkspaceFolder(uri=root.as_uri(), name="project")],
            )
        )
        yield
        await lsp_client.shutdown_session()


def uri(client, path):
    return (client.root / ".qipu" / path).as_uri()


def open_text(client, path, text):
    item = types.TextDocumentItem(uri=uri(client, path), language_id="markdown", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    return types.TextDocumentIdentifier(uri=item.uri)


def at(text, wanted):
    """Returns the position of the cursor `¦` in the first occurrence of a text, in UTF-16."""
    offset = text.index(wanted.replace("¦", "")) + wanted.index("¦")
    before = text[:offset].split("\n")
    return types.Position(line=len(before) - 1, character=len(before[-1].encode("utf-16-le")) // 2)


@pytest.mark.asyncio
async def test_completion(client: LanguageClient):
    document = open_text(client, "notes/qp-new.md", TEXT)
    complete = client.text_document_completion_async
    found = await complete(types.CompletionParams(text_document=document, position=at(TEXT, "[[fsy¦")))
    labels = [item.label for item in found.items]
    assert len(labels) > 2 and all("f" in label.lower() for label in labels)
    found = await complete(types.CompletionParams(text_document=document, position=at(TEXT, "new note#¦Part")))
    assert [item.label for item in found.items] == ["A new note", "Part é 😀", "Rest"]
    found = await complete(types.CompletionParams(text_document=document, position=at(TEXT, "tags: [fsy¦nc")))
    assert "fsync" in [item.label for item in found.items]
    found = await complete(types.CompletionParams(text_document=document, position=at(TEXT, "type: sup¦ports")))
    assert "contradicts" in [item.label for item in found.items]
    found = await complete(types.CompletionParams(text_document=document, position=at(TEXT, "type: fl¦eeting")))
    assert "permanent" in [item.label for item in found.items]


@pytest.mark.asyncio
async def test_navigation_and_hover(client: LanguageClient):
    document = open_text(client, "notes/qp-new.md", TEXT)
    position = at(TEXT, "[[qp-¦b5n2")
    found = await client.text_document_definition_async(types.DefinitionParams(text_document=document, position=position))
    assert found.uri == uri(client, NOTE)
    found = await client.text_document_definition_async(
        types.DefinitionParams(text_document=document, position=at(TEXT, "note#¦Part"))
    )
    assert (found.uri, found.range.start.line) == (document.uri, 12)
    found = await client.text_document_references_async(
        types.ReferenceParams(
            text_document=document, position=position, context=types.ReferenceContext(include_declaration=False)
        )
    )
    assert document.uri in [location.uri for location in found] and len(found) > 2
    hover = await client.text_document_hover_async(types.HoverParams(text_document=document, position=position))
    assert hover.contents.kind == types.MarkupKind.PlainText
    assert "confidence: " in hover.contents.value and "backlinks" in hover.contents.value


@pytest.mark.asyncio
async def test_symbols_and_lenses(client: LanguageClient):
    document = open_text(client, "notes/qp-new.md", TEXT)
    found = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document))
    assert found[0].name == "A new note"
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="a new note"))
    assert found[0].location.uri == document.uri
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=document))
    assert lenses[0].command.title == "0 backlinks"
    # The code that the notes of the fixture are about is not there, but a note may name any file.
    (client.root / "write.c").write_text("write();\n")
    (client.root / ".qipu" / "notes" / "about.md").write_text("---\nid: about\ntitle: About it\n---\nSee `write.c:1`.\n")
    item = types.TextDocumentItem(uri=(client.root / "write.c").as_uri(), language_id="c", version=1, text="write();\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    code = types.TextDocumentIdentifier(uri=item.uri)
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=code))
    assert [lens.command.title for lens in lenses] == ["note: About it"]
    command = lenses[0].command
    await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
    )


@pytest.mark.asyncio
async def test_rename(client: LanguageClient):
    document = open_text(client, "notes/qp-new.md", TEXT)
    position = at(TEXT, "## Par¦t")
    prepared = await client.text_document_prepare_rename_async(
        types.PrepareRenameParams(text_document=document, position=position)
    )
    assert prepared.placeholder == "Part é 😀"
    edit = await client.text_document_rename_async(
        types.RenameParams(text_document=document, position=position, new_name="Other")
    )
    changes = edit.document_changes[0].edits if edit.document_changes else edit.changes[document.uri]
    assert [change.new_text for change in changes] == ["Other", "Other"]
    operations = client.capabilities.workspace.workspace_edit.resource_operations or []
    rename = client.text_document_rename_async(
        types.RenameParams(text_document=document, position=at(TEXT, "[[qp-¦b5n2"), new_name="A better title")
    )
    if types.ResourceOperationKind.Rename in operations:
        edit = await rename
        moved = [change for change in edit.document_changes if isinstance(change, types.RenameFile)]
        assert [change.new_uri for change in moved] == [uri(client, "notes/qp-b5n2-a-better-title.md")]
    else:
        with pytest.raises(Exception, match="can't rename files"):
            await rename


@pytest.mark.asyncio
async def test_diagnostics_and_actions(client: LanguageClient):
    text = TEXT.replace("title: A new note", "title: A: new note").replace("id: qp-new\n", "")
    document = open_text(client, "notes/qp-new.md", text)
    while document.uri not in client.diagnostics:
        await asyncio.wait_for(client.wait_for_notification("textDocument/publishDiagnostics"), 60)
    found = client.diagnostics[document.uri]
    assert {"broken-link", "frontmatter-broken", "no-id"} <= {diagnostic.code for diagnostic in found}

    async def actions(position, diagnostics=()):
        params = types.CodeActionParams(
            text_document=document,
            range=types.Range(start=position, end=position),
            context=types.CodeActionContext(diagnostics=list(diagnostics)),
        )
        return {action.kind: action for action in await client.text_document_code_action_async(params)}

    fix = (await actions(at(text, "titl¦e:"), found))[types.CodeActionKind.QuickFix]
    edits = fix.edit.document_changes[0].edits if fix.edit.document_changes else fix.edit.changes[document.uri]
    assert any('"A: new note"' in edit.new_text for edit in edits)
    operations = client.capabilities.workspace.workspace_edit.resource_operations or []
    extracts = types.CodeActionKind.RefactorExtract in await actions(at(text, "## Res¦t"))
    assert extracts == (types.ResourceOperationKind.Create in operations)
    content = types.TextDocumentContentChangeWholeDocument(text=TEXT)
    changed = types.VersionedTextDocumentIdentifier(uri=document.uri, version=2)
    client.text_document_did_change(types.DidChangeTextDocumentParams(text_document=changed, content_changes=[content]))
    offered = await actions(at(TEXT, "[[qp-¦b5n2"))
    assert "superseded" in offered[types.CodeActionKind.RefactorRewrite].title


def test_warnings_of_the_specification_fail():
    """The filter above turns a warning into an error."""
    with pytest.raises(LspSpecificationWarning):
        warnings.warn("a test", LspSpecificationWarning)
