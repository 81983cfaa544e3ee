package dev.millrace.mirror.text;

import java.util.Locale;

/**
 * Writes JSON objects and arrays, whose members are added one after the other.
 *
 * <p><b>Threads:</b> one.
 */
public final class Json {
    private final StringBuilder text = new StringBuilder();

    public Json beginObject() {
        return begin('{');
    }

    public Json endObject() {
        text.append('}');
        return this;
    }

    public Json beginArray() {
        return begin('[');
    }

    public Json endArray() {
        text.append(']');
        return this;
    }

    private Json begin(char bracket) {
        separate();
        text.append(bracket);
        return this;
    }

    /** Writes the name of the member whose value comes next. */
    public Json name(String name) {
        separate();
        text.append(quote(name)).append(':');
        return this;
    }

    public Json value(String value) {
        separate();
        text.append(value == null ? "null" : quote(value));
        return this;
    }

    public Json value(boolean value) {
        separate();
        text.append(value);
        return this;
    }

    public Json value(long value) {
        separate();
        text.append(value);
        return this;
    }

    /** Writes null if the value is not finite, since JSON has no such number. */
    public Json value(double value) {
        separate();
        text.append(Double.isFinite(value) ? Double.toString(value) : "null");
        return this;
    }

    private void separate() {
        if (text.length() > 0 && "{[:".indexOf(text.charAt(text.length() - 1)) < 0) {
            text.append(',');
        }
    }

    /** Returns a string in quotation marks, in ASCII only. */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
