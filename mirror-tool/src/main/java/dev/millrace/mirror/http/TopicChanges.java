package dev.millrace.mirror.http;

import dev.millrace.mirror.config.TopicPattern;
import dev.millrace.mirror.control.ByteRate;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses, resumes and throttles topics at the request of clients that have the token. The token comes in a header that
 * no other site can make a browser send.
 *
 * <p><b>Threads:</b> any.
 */
final class TopicChanges {
    private static final Logger LOG = LoggerFactory.getLogger(TopicChanges.class);
    private static final Set<String> PATHS = Set.of("/pause", "/resume", "/throttle");
    private static final String TOPICS = "topics";
    private static final String RATE = "bytes-per-second";
    private static final String SCHEME = "Bearer ";
    private static final int SHOWN_TOPICS = 5;

    private final TopicControls controls;
    private final Supplier<MirrorStatus> mirror;
    private final Optional<AccessToken> token;

    TopicChanges(TopicControls controls, Supplier<MirrorStatus> mirror, Optional<AccessToken> token) {
        this.controls = controls;
        this.mirror = mirror;
        this.token = token;
    }

    static boolean has(String path) {
        return PATHS.contains(path);
    }

    /** Whether any request may change something. */
    boolean areAllowed() {
        return token.isPresent();
    }

    /** Returns why the request may not change anything; null if it may. */
    Answer refusalOrNull(String authorization) {
        if (token.isEmpty()) {
            return Answer.text(
                    403,
                    "This mirror takes no changes, because it has no token; start it with --http-token-file FILE, or with"
                            + " the token in the environment variable MIRROR_HTTP_TOKEN");
        }
        boolean isGiven = authorization != null && authorization.startsWith(SCHEME);
        if (!isGiven
                || !token.get().isSame(authorization.substring(SCHEME.length()).strip())) {
            return Answer.text(
                    401,
                    (isGiven ? "This is not the mirror's token" : "The mirror's token is needed")
                            + "; send it in a header: Authorization: Bearer TOKEN");
        }
        return null;
    }

    /**
     * Executes an allowed request.
     *
     * @param form {@code topics=REGEX&bytes-per-second=10MB}, URL-encoded
     * @param who the client that asks, for the log
     */
    Answer answer(String path, String form, String who) {
        String done;
        try {
            Map<String, String> values = parse(path, form);
            Optional<Pattern> topics = Optional.ofNullable(values.get(TOPICS)).map(TopicChanges::topics);
            done = change(path, topics, values.get(RATE)) + here(topics);
        } catch (IllegalArgumentException | MirrorException e) {
            return Answer.text(400, e.getMessage());
        }
        LOG.warn("{}; asked for over HTTP by {}", done, who);
        return Answer.text(200, done);
    }

    private static Map<String, String> parse(String path, String form) {
        Map<String, String> values = new HashMap<>();
        for (String part : form.isEmpty() ? new String[0] : form.split("&")) {
            int end = part.indexOf('=');
            String name = end < 0 ? part : part.substring(0, end);
            boolean isKnown = name.equals(TOPICS) || (name.equals(RATE) && path.equals("/throttle"));
            if (!isKnown || end < 0) {
                throw new IllegalArgumentException("'" + name + "' is no parameter of POST " + path + "; there are "
                        + TOPICS + (path.equals("/throttle") ? " and " + RATE : ""));
            }
            values.put(name, URLDecoder.decode(part.substring(end + 1), StandardCharsets.UTF_8));
        }
        return values;
    }

    private static Pattern topics(String text) {
        if (text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(TOPICS + ": control characters are in no topic's name");
        }
        return TopicPattern.parse(TOPICS, text);
    }

    private String change(String path, Optional<Pattern> topics, String rateOrNull) {
        String names = topics.map(pattern -> "topics " + pattern).orElse("all topics");
        if (path.equals("/pause")) {
            controls.pause(topics);
            return "Paused " + names;
        }
        if (path.equals("/resume")) {
            controls.resume(topics);
            return "Resumed " + names;
        }
        if (rateOrNull == null) {
            throw new IllegalArgumentException(RATE + " is missing, such as 10MB, or none for no limit");
        }
        long rate = ByteRate.parse(rateOrNull);
        controls.throttle(topics, rate);
        return rate == ByteRate.NONE
                ? "Took the limit off " + names
                : "Limited " + names + " to " + ByteRate.describe(rate) + (topics.isEmpty() ? " together" : " each");
    }

    private String here(Optional<Pattern> topics) {
        List<PartitionStatus> found = mirror.get().partitions().stream()
                .filter(PartitionStatus::isOwned)
                .filter(row ->
                        topics.isEmpty() || topics.get().matcher(row.topic()).matches())
                .toList();
        if (found.isEmpty()) {
            return "; this process has no partition of them now, it holds for those that come";
        }
        Set<String> names = new TreeSet<>();
        found.forEach(row -> names.add(row.topic()));
        return "; in this process these are " + Words.count(found.size(), "partition") + " of "
                + String.join(", ", names.stream().limit(SHOWN_TOPICS).toList())
                + (names.size() > SHOWN_TOPICS ? " and " + Words.count(names.size() - SHOWN_TOPICS, "more topic") : "");
    }
}
