//! What is typed, in the person's own editor; and pictures, from files and from the clipboard.

use super::line::Inset;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use selfsmith_sandbox::{Cancel, Environment, Job, Limits, Program, Walls};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a picture at most; what providers take.
const MAX_PICTURE: u64 = 5 * 1024 * 1024;
/// Bytes of an edited text at most.
const MAX_TEXT: u64 = 8 * 1024 * 1024;
/// How long a program may take to give the clipboard.
const PATIENCE: Duration = Duration::from_secs(5);

/// The beginnings of files that hold pictures which models take.
const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

/// Programs that give the clipboard's picture, and the variable that says that they can.
const CLIPBOARDS: &[(&str, &[&str])] = &[
    ("WAYLAND_DISPLAY", &["wl-paste", "--no-newline", "--type", "image/png"]),
    ("DISPLAY", &["xclip", "-selection", "clipboard", "-target", "image/png", "-out"]),
    ("", &["pngpaste", "-"]),
];

/// Edit a text with `$VISUAL`, `$EDITOR` or `vi`; the new text, or why there is none.
pub fn edited(text: &str, folder: &Path, variables: &[(OsString, OsString)]) -> Result<String, String> {
    let set = |name: &str| variables.iter().find(|(n, v)| n == name && !v.is_empty()).map(|(_, v)| v.clone());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into());
    let editor = editor.to_string_lossy().into_owned();
    let words = shell_words::split(&editor).map_err(|error| format!("{editor}: {error}"))?;
    let (program, arguments) = words.split_first().ok_or_else(|| format!("{editor}: it is empty"))?;
    let failed = |error: std::io::Error| error.to_string();
    let mut file = tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let mut arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    arguments.push(file.path().into());
    let ended_well = selfsmith_sandbox::attended(Path::new(program), &arguments, folder, variables)
        .map_err(|error| format!("{program}: {error}"))?;
    if !ended_well {
        return Err(program.clone());
    }
    // An editor may have put another file in this one's place.
    let length = std::fs::metadata(file.path()).map_err(failed)?.len();
    if length > MAX_TEXT {
        return Err(format!("{length} bytes"));
    }
    let text = String::from_utf8_lossy(&std::fs::read(file.path()).map_err(failed)?).into_owned();
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// The picture that a pasted text names as a file: what a terminal does when one is dropped on it.
pub fn dropped(text: &str, folder: &Path) -> Option<Inset> {
    let text = text.trim();
    if text.is_empty() || text.len() > 4096 || text.contains('\n') {
        return None;
    }
    let plain = text.strip_prefix("file://").unwrap_or(text);
    let unquoted =
        shell_words::split(plain).ok().filter(|words| words.len() == 1).and_then(|words| words.into_iter().next());
    [Some(plain.to_owned()), unquoted].into_iter().flatten().find_map(|path| picture(&folder.join(path)))
}

/// The pictures that a prompt names after an `@`.
pub fn named(text: &str, folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for word in text.split('@').skip(1) {
        let name = match word.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => word.split(char::is_whitespace).next().unwrap_or_default(),
        };
        let bare = name.trim_end_matches(['.', ',', ';', ':', ')', '?', '!']);
        let path = [name, bare].into_iter().find_map(|name| picture(&folder.join(name)));
        if let Some(Inset::Image { mime, base64, .. }) = path {
            found.push((mime, base64));
        }
    }
    found
}

/// The clipboard's picture.
pub fn clipboard(folder: &Path, variables: &[(OsString, OsString)]) -> Option<Inset> {
    let set = |name: &str| name.is_empty() || variables.iter().any(|(n, v)| n == name && !v.is_empty());
    CLIPBOARDS.iter().filter(|(variable, _)| set(variable)).find_map(|(_, argv)| {
        let keep = ["PATH", "HOME", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DISPLAY", "XAUTHORITY"];
        let job = Job {
            program: Program::Argv(argv.iter().map(OsString::from).collect()),
            dir: folder.to_owned(),
            environment: Environment { keep: keep.map(str::to_owned).to_vec(), set: Vec::new() },
            stdin: Vec::new(),
            limits: Limits { wall: PATIENCE, output: 2 * MAX_PICTURE as usize, ..Limits::default() },
            walls: Walls::None,
        };
        let finished = selfsmith_sandbox::run(&job, variables, &Cancel::default(), &mut |_, _| {}).ok()?;
        let bytes = finished.stdout.bytes();
        (finished.end.success() && bytes.len() as u64 == finished.stdout.total())
            .then(|| of_bytes("clipboard", &bytes))?
    })
}

fn picture(path: &Path) -> Option<Inset> {
    let metadata = std::fs::metadata(path).ok().filter(|metadata| metadata.is_file())?;
    if metadata.len() > MAX_PICTURE {
        return None;
    }
    let name = path.file_name().map(PathBuf::from)?;
    of_bytes(&name.display().to_string(), &std::fs::read(path).ok()?)
}

fn of_bytes(name: &str, bytes: &[u8]) -> Option<Inset> {
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, mime)| *mime);
    let mime = known.or(webp.then_some("image/webp"))?;
    if bytes.len() as u64 > MAX_PICTURE {
        return None;
    }
    Some(Inset::Image { name: name.to_owned(), mime: mime.to_owned(), base64: BASE64_STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("shot 1.png"), b"\x89PNG\r\n\x1a\nrest").expect("a file");
        std::fs::write(folder.path().join("fake.png"), b"text").expect("a file");
        folder
    }

    #[test]
    fn a_dropped_picture_is_known_by_what_it_holds_and_a_text_stays_a_text() {
        let folder = folder();
        for text in ["shot 1.png", "'shot 1.png' ", "shot\\ 1.png\n"] {
            assert!(
                matches!(dropped(text, folder.path()), Some(Inset::Image { mime, .. }) if mime == "image/png"),
                "{text}"
            );
        }
        for text in ["fake.png", "none.png", "a text", "", "."] {
            assert_eq!(dropped(text, folder.path()), None, "{text}");
        }
    }

    #[test]
    fn pictures_named_in_a_prompt_go_with_it() {
        let folder = folder();
        assert_eq!(named("what is on @\"shot 1.png\"? and @fake.png", folder.path()).len(), 1);
        assert_eq!(named("me@example.com", folder.path()), []);
    }

    #[test]
    fn an_editor_that_fails_leaves_the_text_as_it_was() {
        let variables = |editor: &str| vec![("EDITOR".into(), editor.into()), ("PATH".into(), "/usr/bin:/bin".into())];
        let folder = tempfile::tempdir().expect("a folder");
        assert!(edited("x", folder.path(), &variables("false")).is_err());
        assert!(edited("x", folder.path(), &variables("/nonexistent/editor")).is_err());
        assert_eq!(edited("x\n", folder.path(), &variables("true")), Ok("x".to_owned()));
    }
}
