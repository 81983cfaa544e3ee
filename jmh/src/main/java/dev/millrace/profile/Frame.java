package dev.millrace.profile;

import java.util.List;

/**
 * A frame of a flame graph.
 *
 * @param name the class and method without package, or the name of a folded group
 */
record Frame(String name, Kind kind) {
    /** Whose code the frame is. Each kind has a colour. */
    enum Kind {
        METADATA("looks at the metadata", "#d98cd9"),
        LOCK("takes or waits for a lock", "#e8604c"),
        KAFKA("kafka-clients", "#f2b04a"),
        MILLRACE("Millrace", "#7fc77f"),
        LOAD("the load", "#d8d2c4"),
        JDK("JDK, libraries", "#9cc3e0"),
        SYSTEM("JVM, kernel", "#c4c4c4"),
        TYPE("type of the new object", "#ece08c");

        private final String meaning;
        private final String colour;

        Kind(String meaning, String colour) {
            this.meaning = meaning;
            this.colour = colour;
        }

        String meaning() {
            return meaning;
        }

        String colour() {
            return colour;
        }

        private static final List<SendStage> METADATA_STAGES =
                List.of(SendStage.METADATA, SendStage.ADD, SendStage.FETCH);

        /** The kind of a Java method, given its full name with slashes. */
        static Kind of(String method) {
            if (METADATA_STAGES.stream().anyMatch(stage -> stage.isMethod(method))) {
                return METADATA;
            }
            if (method.startsWith("java/util/concurrent/locks/")) {
                return LOCK;
            }
            if (method.startsWith("org/apache/kafka/") || method.startsWith("dev/millrace/kafka/")) {
                return KAFKA;
            }
            if (method.startsWith("dev/millrace/client/")) {
                return MILLRACE;
            }
            return method.startsWith("dev/millrace/") ? LOAD : JDK;
        }
    }
}
