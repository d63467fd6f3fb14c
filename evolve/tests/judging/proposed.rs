//! A revert that the machine proposes, because a landed generation died, lands as any other candidate does.

use crate::world::*;
use selfsmith::cycle;
use selfsmith::review::{self, Deciding};
use selfsmith::store::authority::Authority;
use selfsmith::store::faults::NoFaults;
use selfsmith::store::journal::Landing;
use selfsmith::store::record::End;
use selfsmith_sandbox::Cancel;

fn proposed(world: &World, landing: Landing) -> review::Decided {
    let mut gates = Gates::of(world);
    with_hands(world, &NoFaults, |hands| {
        let base = cycle::look(hands.repo, None).unwrap();
        let deciding = Deciding { hands, id: "r1".to_owned(), authority: Authority::CommandLine };
        review::propose_revert(&deciding, (&base, "c0"), landing, &mut gates, &Cancel::default()).unwrap()
    })
    .0
}

#[test]
fn it_waits_for_a_person_and_then_takes_the_change_back() {
    let world = World::new();
    run(&world, &auto("c0"), edit("src/lib.rs", "// worse\n"));
    let landed = world.rev(MAIN);
    let decided = proposed(&world, Landing::Review);
    assert_eq!((decided.end, world.rev(MAIN)), (End::Waiting, landed));
    let approved = decide(&world, "d1", |deciding| review::approve(deciding, "r1-0").unwrap());
    assert_eq!(approved.end, End::Landed);
    assert!(!world.file("main", "src/lib.rs").contains("worse"));
    assert_eq!(review::verify(&world.repo(), &world.state()).unwrap(), []);
}

#[test]
fn it_lands_by_itself_where_the_owner_lets_changes_land() {
    let world = World::new();
    run(&world, &auto("c0"), edit("src/lib.rs", "// worse\n"));
    assert_eq!(proposed(&world, Landing::Auto).end, End::Landed);
    assert!(!world.file("main", "src/lib.rs").contains("worse"));
}
