package dev.millrace.weather;

/** What happens to the processes of the mirror. */
enum Treatment {
    /** They are killed, frozen, and stopped and started. */
    ROUGH,
    /** They are stopped and started, but neither killed nor frozen, so a consumer group need see nothing twice. */
    CLEAN,
    /** After the calm none of them ends, so one sees what they gather. */
    LASTING
}
