package dev.millrace.race;

/** The race cannot go on; the message is for whoever started it. */
public final class RaceException extends RuntimeException {
    RaceException(String message) {
        super(message);
    }
}
