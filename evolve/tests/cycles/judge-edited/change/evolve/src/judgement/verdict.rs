pub fn derive() -> bool {
    true
}
