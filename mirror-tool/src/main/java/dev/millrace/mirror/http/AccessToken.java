package dev.millrace.mirror.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** The token that a client must send to change something. It is never printed. */
public final class AccessToken {
    private static final int MIN_LENGTH = 16;

    private final byte[] expected;

    private AccessToken(String text) {
        this.expected = text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Creates the token from this text.
     *
     * @throws IllegalArgumentException when it can be guessed or cannot be sent; the message does not quote it
     */
    public static AccessToken of(String text) {
        if (text.length() < MIN_LENGTH || !text.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new IllegalArgumentException("expected are at least " + MIN_LENGTH
                    + " ASCII characters without spaces, such as 'openssl rand -hex 16' prints");
        }
        return new AccessToken(text);
    }

    /** Compares in a time that is the same for all wrong tokens of a length. */
    boolean isSame(String given) {
        return MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
