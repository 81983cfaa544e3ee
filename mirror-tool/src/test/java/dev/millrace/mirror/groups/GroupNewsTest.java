package dev.millrace.mirror.groups;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class GroupNewsTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(GroupNews.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final GroupNews news = new GroupNews();

    @BeforeEach
    void listen() {
        lines.start();
        logger.setAdditive(false);
        logger.setLevel(Level.INFO);
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        logger.setAdditive(true);
    }

    @Test
    void shouldTellTheSameOfManyGroupsInOneLine() {
        for (int i = 0; i < 2_000; i++) {
            news.add("Kept: {}", "g" + i);
            news.addFailure("Not written: {}: {}", "f" + i, new GroupAuthorizationException("no right"));
        }
        news.add("Active: {}", "one");

        news.tell();
        news.tell();

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "Kept: 2,000 groups (g0, g1, g2, g3, g4 and 1,995 more)",
                        "Active: group one",
                        "Not written: 2,000 groups (f0, f1, f2, f3, f4 and 1,995 more): no right");
    }
}
