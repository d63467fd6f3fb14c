//! The ways to a server: certificates of the person's own, of the system's, proxies; real TLS on loopback.

use crate::support::{World, code, says, stderr};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;

/// A server with a certificate that nobody knows, which says "Safely." to everything; its address and its PEM file.
fn tls(world: &World) -> (String, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let pem = world.home().join("ca.pem");
    std::fs::write(&pem, made.cert.pem()).expect("a file");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a server");
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").expect("a port"), Arc::new(config));
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = config.clone();
            std::thread::spawn(move || answer(stream, config));
        }
    });
    (format!("https://localhost:{port}/v1"), pem.display().to_string())
}

fn answer(mut stream: TcpStream, config: Arc<rustls::ServerConfig>) {
    let Ok(mut connection) = rustls::ServerConnection::new(config) else { return };
    let mut tls = rustls::Stream::new(&mut connection, &mut stream);
    let mut request = Vec::new();
    let mut piece = [0; 16384];
    // A request of this program ends with the limit on tokens.
    while !String::from_utf8_lossy(&request).trim_end().ends_with("000}") {
        match tls.read(&mut piece) {
            Ok(n @ 1..) => request.extend_from_slice(piece.get(..n).unwrap_or_default()),
            _ => return,
        }
    }
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Safely."},"finish_reason":"stop"}]}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = tls.write_all(format!("{head}{body}").as_bytes());
    let _ = tls.flush();
}

fn ask(world: &World, base: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = world.command(&["exec", "--channel", "text", "--base-url", base, "hello"]);
    command.envs(variables.iter().copied()).output().expect("it starts")
}

const ONE_TRY: &str = "model: { retry: { max_tries: 1 }";

#[test]
fn a_certificate_that_nobody_knows_is_refused_and_one_of_the_persons_own_or_the_systems_is_taken() {
    let world = World::new(vec![]).settings(&format!("{ONE_TRY} }}\n"));
    let (base, pem) = tls(&world);
    let output = ask(&world, &base, &[]);
    assert_eq!(code(&output), 5, "{}", stderr(&output));
    assert!(stderr(&output).to_lowercase().contains("certificate"), "{}", stderr(&output));
    let output = ask(&world, &base, &[("SSL_CERT_FILE", &pem)]);
    assert_eq!((code(&output), String::from_utf8_lossy(&output.stdout).trim()), (0, "Safely."), "{}", stderr(&output));
    let world = world.settings(&format!("{ONE_TRY}, ca_file: {pem:?} }}\n"));
    assert_eq!(code(&ask(&world, &base, &[])), 0);
    // One provider's authority is trusted for that provider alone.
    let world = world.settings(&format!("{ONE_TRY}, ca_files: {{ dashscope: {pem:?} }} }}\n"));
    assert_eq!(code(&ask(&world, &base, &[])), 5);
    let world = world.settings(&format!("{ONE_TRY}, provider: dashscope, ca_files: {{ dashscope: {pem:?} }} }}\n"));
    let output = ask(&world, &base, &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn a_file_without_certificates_is_named() {
    let world = World::new(vec![]);
    let path = world.home().join("empty.pem");
    std::fs::write(&path, "nothing").expect("a file");
    let world = world.settings(&format!("model: {{ ca_file: {:?} }}\n", path.display().to_string()));
    let output = ask(&world, "https://localhost:1/v1", &[]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("empty.pem"), "{}", stderr(&output));
}

#[test]
fn a_proxy_of_the_settings_or_the_environment_carries_the_request_and_off_goes_without() {
    let world = World::new(vec![says("By settings."), says("By environment.")]);
    let proxy = world.base_url().trim_end_matches("/v1").to_owned();
    let world = world.settings(&format!("{ONE_TRY}, proxy: {proxy:?} }}\n"));
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let output = ask(&world, "http://model.example/v1", &[]);
    assert_eq!(said(&output), "By settings.", "{}", stderr(&output));
    let world = world.settings(&format!("{ONE_TRY} }}\n"));
    let output = ask(&world, "http://model.example/v1", &[("http_proxy", &proxy)]);
    assert_eq!(said(&output), "By environment.", "{}", stderr(&output));
    let world = world.settings(&format!("{ONE_TRY}, proxy: off }}\n"));
    let output = ask(&world, "http://model.invalid/v1", &[("http_proxy", &proxy)]);
    assert_eq!(code(&output), 5, "{}", stderr(&output));
}

/// A page over HTTP, once for each connection.
fn page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let n = stream.read(&mut head).unwrap_or_default();
            let path = String::from_utf8_lossy(head.get(..n).unwrap_or_default()).into_owned();
            let reply = if path.starts_with("GET /away") {
                "HTTP/1.1 302 Found\r\nlocation: http://other.example/x\r\ncontent-length: 0\r\n\r\n".to_owned()
            } else if path.starts_with("GET /moved") {
                "HTTP/1.1 302 Found\r\nlocation: /here\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
            } else {
                let body = "<html><script>no</script><body><h1>News</h1><p>All is <b>well</b>.</body></html>";
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
                format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            };
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    format!("http://127.0.0.1:{port}")
}

#[test]
fn a_page_is_fetched_as_text_where_its_host_is_allowed_and_leads_nowhere_else() {
    let page = page();
    let calls = ["/moved", "/away"].map(|path| says(&format!("<fetch_url url=\"{page}{path}\"/>")));
    let world = World::new([calls.to_vec(), vec![says("<done>Read.</done>")]].concat());
    let world = world.settings("tools: { fetch: { allow: [127.0.0.1] } }\n");
    let output = world.run(&["exec", "--channel", "text", "read it"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let request = world.last_request();
    assert!(
        request.contains("News") && request.contains("/here, status 200") && !request.contains("script"),
        "{request}"
    );
    assert!(request.contains("redirects to http://other.example/x"), "{request}");
}

#[test]
fn without_a_person_no_other_host_is_fetched_in_any_mode() {
    let page = page();
    let world = World::new(vec![says(&format!("<fetch_url url=\"{page}/\"/>")), says("<done>No.</done>")]);
    let output = world.run(&["exec", "--channel", "text", "--approval", "auto", "read it"]);
    assert!(!world.last_request().contains("News"), "{}", world.last_request());
    assert!(
        stderr(&output).contains("127.0.0.1") && stderr(&output).contains("tools.fetch.allow"),
        "{}",
        stderr(&output)
    );
}
