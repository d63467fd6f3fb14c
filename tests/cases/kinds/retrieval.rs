//! Search in a few documents by words alone.

use crate::Case;
use crate::judge::{Rules, includes, judge, limit, list, object, short};
use crate::program::{Fault, Input, Program};
use crate::world;
use serde_json::{Map, Value, json};

pub fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let given = &case.input;
    let world = world::fresh();
    let names: Vec<(String, String)> =
        object(&given["docs"]).keys().enumerate().map(|(n, id)| (id.clone(), format!("doc-{n:03}"))).collect();
    let mut docs = Map::new();
    for (id, name) in &names {
        docs.insert(name.clone(), given["docs"][id].clone());
        world::write(&world.path().join(format!("{name}.txt")), &world::blob(&given["docs"][id]), 0o644);
    }
    let question = |query: &Value| json!({ "docs": docs, "dir": world.path(), "query": query });
    let mut program = Program::start(&case.kind, &[], Input::Pipe)?;
    let limit = limit(&case.expect);
    if case.expect.get("within_ms").is_some() {
        program.ask(&format!("{}+warm", case.id), &question(&json!("warm")), limit)?;
    }
    let mut view = program.ask(&case.id, &question(&given["query"]), limit)?;
    let old = |hit: &Value| names.iter().find(|(_, name)| hit == name).map_or_else(|| hit.clone(), |(id, _)| json!(id));
    let hits: Vec<Value> = list(view.get("hits")).iter().map(old).collect();
    view.got.insert("hits".to_owned(), json!(hits));
    let whole = |_: &Map<String, Value>| {
        let strange: Vec<&Value> = hits.iter().filter(|hit| !names.iter().any(|(id, _)| *hit == id)).collect();
        let twice: Vec<&Value> = hits.iter().filter(|hit| hits.iter().filter(|h| h == hit).count() > 1).collect();
        [("not a document", strange), ("named twice", twice)]
            .into_iter()
            .filter(|(_, which)| !which.is_empty())
            .map(|(what, which)| format!("hits: {what}: {which:?}"))
            .collect()
    };
    let rules = Rules::default()
        .key("hits_include", |want| includes("hits", want, &json!(hits)))
        .key("top", |want| {
            (hits.first() != Some(want)).then(|| format!("top: want {want}, got {}", short(&json!(hits))))
        })
        .whole(whole);
    Ok(judge(&case.expect, &view, &rules))
}
