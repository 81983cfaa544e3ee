package dev.millrace.client.kafka;

/**
 * An answer can be read but makes no sense. A handler that throws this before it has passed on any result is told that
 * the answer was lost.
 */
final class SenselessAnswerException extends RuntimeException {
    private static final long serialVersionUID = 1;

    SenselessAnswerException(String message) {
        super(message);
    }

    SenselessAnswerException(Throwable cause) {
        super(cause);
    }
}
