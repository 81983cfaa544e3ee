package dev.millrace.mirror.http;

import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The host names under which clients may address a server. A page of another site can point its own name to this
 * server's address and would then be allowed to read the answers (DNS rebinding), but its requests carry that name. A
 * literal address is always allowed, because nobody can point it to another machine.
 */
final class HostNames {
    private static final Pattern HEADER = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[^:\\[\\]]+)(:\\d*)?");
    private static final Pattern ADDRESS = Pattern.compile("\\[.*]|\\d{1,3}(\\.\\d{1,3}){3}");

    private final Set<String> names = new TreeSet<>(Set.of("localhost"));

    HostNames(Set<String> others) {
        others.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
    }

    /** @param header the request's {@code Host} header; null without one */
    boolean areAllowed(String header) {
        Matcher host = HEADER.matcher(header == null ? "" : header);
        return host.matches()
                && (ADDRESS.matcher(host.group(1)).matches()
                        || names.contains(host.group(1).toLowerCase(Locale.ROOT)));
    }
}
