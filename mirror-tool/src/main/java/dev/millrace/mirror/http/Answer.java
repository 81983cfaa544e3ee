package dev.millrace.mirror.http;

/** The answer to a request. */
record Answer(int code, String contentType, String body) {
    static Answer text(int code, String line) {
        return new Answer(code, "text/plain; charset=utf-8", line + "\n");
    }
}
