//! One setting written into a file that people keep: everything else in it stays, comments included.

use super::error::{ConfigError, Place};
use super::{SHIPPED, file, layers, shape, typed};
use crate::query::endpoint::Endpoint;
use crate::query::quirks::{self, PRESETS};
use serde_yaml::Value;
use std::io::Write as _;
use std::path::Path;

/// Set a dotted key in a settings file, which need not exist. `value` is YAML. What comes out is read as settings are before it
/// takes the file's place.
///
/// # Errors
/// The key or the value is wrong, or the file cannot be changed; it then stays as it was.
pub fn set(path: &Path, key: &str, given: &str) -> Result<(), ConfigError> {
    let write = |source| ConfigError::Write { path: path.to_owned(), source };
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    let value = quoted(given);
    let after = with(&before, &key.split('.').collect::<Vec<_>>(), &value);
    let name = path.display().to_string();
    let refused = |why| ConfigError::Refused { key: key.to_owned(), value: given.trim().to_owned(), why };
    let read = shape::read(&after, &name, &file::shape()?).map_err(|error| match error {
        ConfigError::Value { key: wrong, why, .. } if wrong == key => refused(why),
        other => other,
    })?;
    // A file in another style than one key a line is not understood by lines: then it is left alone.
    let wanted: Option<Value> = serde_yaml::from_str(&value).ok();
    if shape::at(&read, key) != wanted.as_ref() {
        let source = std::io::Error::other(format!("{key} cannot be set in it automatically: edit it by hand"));
        return Err(write(source));
    }
    let sound_before = shape::read(&before, &name, &file::shape()?).is_ok_and(|values| sound(values).is_ok());
    match sound(read) {
        // Another key that was wrong before is no reason against this one.
        Err(ConfigError::Value { key: wrong, why, .. }) if sound_before || wrong == key => {
            return Err(refused(why));
        }
        Ok(()) | Err(_) => {}
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(write)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(write)?;
    beside.write_all(after.as_bytes()).and_then(|()| beside.as_file().sync_all()).map_err(write)?;
    beside.persist(path).map(|_| ()).map_err(|error| write(error.error))
}

/// Whether settings with these values over the shipped ones can be used.
fn sound(values: Value) -> Result<(), ConfigError> {
    let config = typed(&layers::over_shipped(values)?)?;
    let wrong = |key: &str, why: String| {
        let place = Place { name: String::new(), at: None };
        Err(ConfigError::Value { key: key.to_owned(), place, why })
    };
    let said = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
    if said(&config.model.provider).is_some_and(|name| quirks::by_name(&name).is_none()) {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        return wrong("model.provider", format!("there is no such provider; known are {}", known.join(", ")));
    }
    match said(&config.model.base_url).map(|url| Endpoint::parse(&url)) {
        Some(Err(error)) => wrong("model.base_url", format!("{}; {}", error.why(), error.hint())),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// The value as it can stand behind a colon: a plain text that YAML would take for something else gets quotes.
fn quoted(value: &str) -> String {
    let value = value.trim();
    let sound = !value.is_empty() && !value.contains(['\n', '#']) && !value.contains(": ");
    if sound && serde_yaml::from_str::<Value>(value).is_ok() {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// The text with a key set, below its groups.
fn with(text: &str, keys: &[&str], value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut range = 0..lines.len();
    let mut indent = 0;
    for (depth, key) in keys.iter().enumerate() {
        let last = depth + 1 == keys.len();
        match find(&lines, range.clone(), indent, key) {
            Some(at) if last => {
                // Whatever stood below the key was its value.
                let end = block_end(&lines, at, range.end, indent);
                lines.splice(at..end, [format!("{}{key}: {value}", " ".repeat(indent))]);
                return joined(&lines);
            }
            Some(at) => {
                let end = block_end(&lines, at, range.end, indent).max(template_end(&lines, at, range.end, indent));
                range = at + 1..end;
                indent = child_indent(&lines, range.clone(), indent);
            }
            None if commented(&lines, range.clone(), indent, key).is_some() => {
                // The template's own line, or its group's, without the # before it.
                let at = commented(&lines, range.clone(), indent, key).unwrap_or_default();
                let value = if last { format!(" {value}") } else { String::new() };
                if let Some(line) = lines.get_mut(at) {
                    *line = format!("{}{key}:{value}", " ".repeat(indent));
                }
                if last {
                    return joined(&lines);
                }
                range = at + 1..template_end(&lines, at, range.end, indent);
                indent += 2;
            }
            None => {
                let at = if depth == 0 { lines.len() } else { range.start };
                let mut new = Vec::new();
                for (n, group) in keys.iter().enumerate().skip(depth) {
                    let blanks = " ".repeat(indent + (n - depth) * 2);
                    let value = if n + 1 == keys.len() { format!(" {value}") } else { String::new() };
                    new.push(format!("{blanks}{group}:{value}"));
                }
                lines.splice(at..at, new);
                return joined(&lines);
            }
        }
    }
    joined(&lines)
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The line of a key with exactly this indentation.
fn find(lines: &[String], range: std::ops::Range<usize>, indent: usize, key: &str) -> Option<usize> {
    let is = |line: &String| {
        let rest = line.get(indent..).and_then(|rest| rest.strip_prefix(key));
        indentation(line) == indent && rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    range.into_iter().find(|n| lines.get(*n).is_some_and(is))
}

/// The line on which the template has a key with exactly this indentation, behind a `#`. Comments of the person's own are
/// left alone: only a line that is shipped as it stands there counts.
fn commented(lines: &[String], range: std::ops::Range<usize>, indent: usize, key: &str) -> Option<usize> {
    let is = |line: &String| {
        let rest = line.strip_prefix('#').unwrap_or_default();
        let named =
            rest.get(indent..).and_then(|rest| rest.strip_prefix(key)).is_some_and(|rest| rest.starts_with(':'));
        named && indentation(rest) == indent && SHIPPED.lines().any(|own| own == rest)
    };
    range.into_iter().find(|n| lines.get(*n).is_some_and(is))
}

/// Where the template's lines for the group on a line end: at the next key that is no further in.
fn template_end(lines: &[String], at: usize, end: usize, indent: usize) -> usize {
    let outside = |line: &String| {
        let rest = line.strip_prefix('#').unwrap_or(line);
        // A comment for people has a blank behind its #, and a key of the template has none.
        !rest.trim().is_empty() && !rest.trim_start().starts_with('#') && indentation(rest) <= indent
    };
    (at + 1..end).find(|n| lines.get(*n).is_some_and(outside)).unwrap_or(end)
}

/// Where what belongs to the key on a line ends.
fn block_end(lines: &[String], at: usize, end: usize, indent: usize) -> usize {
    let outside = |line: &String| !is_blank(line) && indentation(line) <= indent;
    let next = (at + 1..end).find(|n| lines.get(*n).is_some_and(outside)).unwrap_or(end);
    // Blank lines and comments before the next key belong to it.
    let last = (at..next).rev().find(|n| lines.get(*n).is_some_and(|line| !is_blank(line)));
    last.map_or(at + 1, |last| last + 1)
}

fn child_indent(lines: &[String], range: std::ops::Range<usize>, indent: usize) -> usize {
    let children = lines.get(range).unwrap_or_default().iter().filter(|line| !is_blank(line));
    children.map(|line| indentation(line)).find(|child| *child > indent).unwrap_or(indent + 2)
}

fn is_blank(line: &str) -> bool {
    let text = line.trim();
    text.is_empty() || text.starts_with('#')
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_in(before: &str, key: &str, value: &str) -> Result<String, ConfigError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sub/config.yaml");
        if !before.is_empty() {
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(&path, before).expect("a file");
        }
        let done = set(&path, key, value);
        let after = std::fs::read_to_string(&path).unwrap_or_default();
        if done.is_err() {
            assert_eq!(after, before);
        }
        done.map(|()| after)
    }

    #[test]
    fn a_key_is_set_and_everything_else_stays() {
        let before = "# mine\nmodel:\n  # which\n  name: old # really\n  provider: ollama\n\ncli:\n  theme: dark\n";
        let after = set_in(before, "model.name", "qwen3:8b").expect("it is set");
        assert_eq!(after, before.replace("old # really", "qwen3:8b"));
        let after = set_in(before, "tools.bash.timeout_s", "60").expect("it is set");
        assert_eq!(after, format!("{before}tools:\n  bash:\n    timeout_s: 60\n"));
        let after = set_in(before, "cli.bell", "false").expect("it is set");
        assert_eq!(after, before.replace("cli:\n", "cli:\n  bell: false\n"));
        assert_eq!(set_in("", "model.name", "x").expect("it is set"), "model:\n  name: x\n");
    }

    #[test]
    fn a_template_of_comments_gets_its_first_keys() {
        let after = set_in(&file::template(), "model.name", "x").expect("it is set");
        let lines: Vec<&str> = after.lines().collect();
        let at = |wanted: &str| lines.iter().position(|line| *line == wanted);
        // In the template's own place, below its own comments, and nowhere else.
        assert!(at("model:") < at("  name: x") && at("  name: x") < at("#  api_key_env: null"), "{after}");
        assert!(at("#model:").is_none() && at("#  name: null").is_none() && at("#cli:").is_some(), "{after}");
        assert_eq!(lines.len(), file::template().lines().count());
        let again = set_in(&after, "model.base_url", "http://127.0.0.1:1/v1").expect("it is set");
        assert!(again.contains("\n  base_url: http://127.0.0.1:1/v1\n") && !again.contains("#  base_url"), "{again}");
        let deep = set_in(&again, "tools.bash.timeout_s", "60").expect("it is set");
        assert!(deep.contains("\ntools:\n") && deep.contains("\n  bash:\n") && deep.contains("\n    timeout_s: 60\n"));
        assert_eq!(deep.lines().count(), lines.len());
    }

    #[test]
    fn a_line_that_a_person_took_out_stays_taken_out() {
        let before = "model:\n#  name: old\n  provider: ollama\n";
        let after = set_in(before, "model.name", "new").expect("it is set");
        assert!(after.contains("#  name: old\n") && after.contains("\n  name: new\n"), "{after}");
    }

    #[test]
    fn what_is_wrong_or_not_understood_leaves_the_file_alone() {
        assert!(set_in("model:\n  name: x\n", "model.nam", "y").is_err());
        assert!(set_in("", "model_chat.max_turns", "many").is_err());
        assert!(set_in("model: {name: x}\n", "model.name", "y").is_err());
    }

    #[test]
    fn a_value_that_is_none_of_those_allowed_is_refused_with_their_names() {
        let refused =
            |key: &str, value: &str| set_in("cli:\n  bell: false\n", key, value).expect_err(value).to_string();
        for (key, value, allowed) in [
            ("cli.theme", "purple", "`dark`"),
            ("tools.approval", "yolo", "`auto-edit`"),
            ("model.effort", "huge", "`medium`"),
            ("model.provider", "nobody", "ollama"),
            ("model.base_url", "localhost:8080", "http://"),
            ("model_chat.max_turns", "0", "at least 1"),
            ("limits.tokens", "lots", "number"),
            ("cli.bell", "maybe", "true or false"),
        ] {
            let why = refused(key, value);
            assert!(why.contains(&format!("set `{key}` to `{value}`")) && why.contains(allowed), "{why}");
        }
    }

    #[test]
    fn another_setting_that_is_wrong_already_does_not_keep_this_one_from_being_mended() {
        let before = "cli:\n  theme: purple\nmodel:\n  effort: huge\n";
        let after = set_in(before, "cli.theme", "dark").expect("it is set");
        assert_eq!(after, before.replace("purple", "dark"));
    }

    #[test]
    fn a_text_that_is_more_than_a_text_gets_quotes() {
        assert_eq!(set_in("", "model.name", "a: b # c").expect("it is set"), "model:\n  name: \"a: b # c\"\n");
        assert_eq!(set_in("", "model.name", "").expect("it is set"), "model:\n  name: \"\"\n");
    }
}
