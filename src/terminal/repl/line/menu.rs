//! A list to choose from: what is in it, which is chosen, which part is in sight. Pure.

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is called, and what completion puts in.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
}

/// A list with a chosen entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Menu {
    /// Byte index in the text where the word begins that a choice replaces.
    pub start: usize,
    /// The entries; never none.
    pub items: Vec<Item>,
    /// The chosen one.
    pub chosen: usize,
}

impl Menu {
    /// A list of these; nothing of none. What was chosen before stays so.
    pub fn new(start: usize, items: Vec<Item>, before: Option<&Menu>) -> Option<Self> {
        let kept = before.and_then(|menu| menu.items.get(menu.chosen));
        let chosen = kept.and_then(|item| items.iter().position(|other| other.name == item.name)).unwrap_or(0);
        (!items.is_empty()).then_some(Self { start, items, chosen })
    }

    /// The next one; after the last the first.
    pub fn next(&mut self) {
        self.chosen = (self.chosen + 1) % self.items.len();
    }

    /// The one before; before the first the last.
    pub fn previous(&mut self) {
        self.chosen = (self.chosen + self.items.len() - 1) % self.items.len();
    }

    /// The chosen entry.
    pub fn item(&self) -> Option<&Item> {
        self.items.get(self.chosen)
    }
}

/// Which of so many entries are in sight where only some have room, so that the chosen one is.
pub fn window(count: usize, chosen: usize, room: usize) -> std::ops::Range<usize> {
    let start = (chosen + 1).saturating_sub(room).min(count.saturating_sub(room));
    start..(start + room).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_entry_is_always_in_sight() {
        for (count, room) in [(1, 5), (5, 5), (20, 5), (20, 1)] {
            for chosen in 0..count {
                let window = window(count, chosen, room);
                assert!(window.contains(&chosen) && window.len() == room.min(count), "{count} {room} {chosen}");
            }
        }
    }

    #[test]
    fn a_choice_goes_round_and_outlives_filtering() {
        let item = |name: &str| Item { name: name.to_owned(), about: String::new() };
        let mut menu = Menu::new(0, vec![item("a"), item("b"), item("c")], None).expect("entries");
        menu.previous();
        assert_eq!(menu.item(), Some(&item("c")));
        let narrow = Menu::new(0, vec![item("b"), item("c")], Some(&menu)).expect("entries");
        assert_eq!(narrow.chosen, 1);
        assert_eq!(Menu::new(0, Vec::new(), None), None);
    }
}
