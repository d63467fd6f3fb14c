//! Kinds that are text in, values out.

use crate::Case;
use crate::ask;
use crate::judge::{Rules, judge, object, text_calls};
use crate::program::Fault;
use crate::world;
use serde_json::{Map, Value, json};

pub fn xml_parse(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let tools = json!(["view", "create", "str_replace", "bash", "done"]);
    let mut input = json!({
        "text": given["text"], "finish_reason": given["finish_reason"],
        "tools": given.get("tools").unwrap_or(&tools),
    });
    if let Some(chunking) = given.get("chunking") {
        input["chunking"] = chunking.clone();
    }
    let mut view = ask(case, &input)?;
    view.strip(&["text"]);
    let calls = view.get("calls").clone();
    Ok(judge(&case.expect, &view, &Rules::default().key("calls", move |want| text_calls(want, &calls))))
}

pub fn file_blocks(case: &Case) -> Result<Vec<String>, Fault> {
    let finish = case.input.get("finish_reason").cloned().unwrap_or_else(|| json!("stop"));
    let view = ask(case, &json!({ "text": case.input["text"], "finish_reason": finish }))?;
    Ok(judge(&case.expect, &view, &Rules::default()))
}

pub fn skill(case: &Case) -> Result<Vec<String>, Fault> {
    let world = world::fresh();
    let shelf = world.path().join("skills");
    let given = &case.input;
    let input = if let Some(skills) = given.get("skills") {
        let skills: Map<String, Value> = object(skills);
        for (name, text) in &skills {
            world::write(&shelf.join(name).join("SKILL.md"), &world::blob(text), 0o644);
        }
        let mut names: Vec<&String> = skills.keys().collect();
        names.sort();
        json!({ "dirs": names.iter().map(|name| shelf.join(name)).collect::<Vec<_>>() })
    } else {
        let data = given.get("file_b64").map_or_else(|| world::blob(&given["file"]), world::from_base64);
        let folder = shelf.join(given["dir"].as_str().unwrap_or_default());
        world::write(&folder.join("SKILL.md"), &data, 0o644);
        json!({ "dir": folder })
    };
    let mut view = ask(case, &input)?;
    view.strip(&["body"]);
    Ok(judge(&case.expect, &view, &Rules::default()))
}
