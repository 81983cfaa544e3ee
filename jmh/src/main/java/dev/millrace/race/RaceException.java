package dev.millrace.race;

/** The race cannot continue. The message is for the user. */
public final class RaceException extends RuntimeException {
    RaceException(String message) {
        super(message);
    }
}
