package dev.millrace.mirror.cli;

import dev.millrace.mirror.http.AccessToken;
import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option {@code --http-token-file} of {@code mirror run} and of the commands that change what it does. */
final class TokenOption {
    static final String ENVIRONMENT = "MIRROR_HTTP_TOKEN";
    static final String OPTION = "--http-token-file";

    @Option(
            names = OPTION,
            paramLabel = "FILE",
            order = 20,
            description =
                    "A file whose only line is the token with which topics may be paused, resumed and throttled over"
                            + " HTTP: at least 16 characters. Default: the environment variable " + ENVIRONMENT
                            + "; without either, nobody may.")
    private Path file;

    /** Whether the option is given. */
    boolean isGiven() {
        return file != null;
    }

    /**
     * Returns the token, if one is given.
     *
     * @throws MirrorException naming the file, or the variable, that has none
     */
    Optional<AccessToken> token() {
        return text().map(text -> {
            try {
                return AccessToken.of(text);
            } catch (IllegalArgumentException e) {
                throw MirrorException.usage(
                        (file == null ? ENVIRONMENT : OPTION + " " + file) + ": it has no token; " + e.getMessage());
            }
        });
    }

    /** Returns the header that carries the token. */
    String header() {
        AccessToken unused = token().orElseThrow(() -> MirrorException.usage("The mirror's token is needed: give "
                + OPTION + " FILE, or set the environment variable " + ENVIRONMENT));
        return "Bearer " + text().orElseThrow();
    }

    private Optional<String> text() {
        if (file == null) {
            return Optional.ofNullable(System.getenv(ENVIRONMENT));
        }
        try {
            return Optional.of(Files.readString(file).strip());
        } catch (NoSuchFileException e) {
            throw MirrorException.usage(OPTION + " " + file + ": there is no such file");
        } catch (IOException e) {
            throw MirrorException.usage(OPTION + " " + file + ": cannot be read, " + ClientConfigs.whyUnreadable(file));
        }
    }
}
