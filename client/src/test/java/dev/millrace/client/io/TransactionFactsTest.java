package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.TransactionFacts.Begun;
import dev.millrace.client.io.TransactionFacts.Failed;
import dev.millrace.client.io.TransactionFacts.Known;
import dev.millrace.client.io.TransactionFacts.NextEpoch;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TransactionFactsTest {
    private static final String ANY = "any";

    /** Protocol of this transaction and of the next, begun, failed, and the next epoch. */
    private static final List<List<String>> NEXT_EPOCHS = List.of(
            List.of("newer", ANY, "NO", ANY, "KEEP"),
            List.of("newer", ANY, "PERHAPS|YES", ANY, "FROM_END"),
            List.of("older", "newer", ANY, ANY, "BY_INIT"),
            List.of("older", "older", ANY, "NOTHING", "KEEP"),
            List.of("older", "older", ANY, "UNNUMBERED|NUMBERED|PERHAPS_WRITTEN", "BY_INIT"));

    private final TransactionFacts facts = new TransactionFacts();

    @Test
    void shouldChooseTheNextEpochByProtocolBeginningAndFailure() {
        for (Known known : all()) {
            for (boolean nextIsExplicit : new boolean[] {false, true}) {
                List<String> given = List.of(
                        known.explicit() ? "older" : "newer",
                        nextIsExplicit ? "older" : "newer",
                        known.begun().name(),
                        known.failed().name());
                List<String> expected = NEXT_EPOCHS.stream()
                        .filter(row -> IntStream.range(0, given.size()).allMatch(i -> isIn(row.get(i), given.get(i))))
                        .map(row -> row.get(given.size()))
                        .toList();

                assertThat(expected)
                        .as("%s", given)
                        .containsExactly(known.nextEpoch(nextIsExplicit).name());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRewindUnlessARecordMayBeWrittenWhenTheCoordinatorIsTooOldForANewEpoch(Failed failed) {
        Set<Failed> hopeless = EnumSet.of(Failed.PERHAPS_WRITTEN);

        assertThat(new Known(true, Begun.YES, failed).nextEpochWithoutInit())
                .isEqualTo(hopeless.contains(failed) ? NextEpoch.NONE : NextEpoch.REWIND);
    }

    @Test
    void shouldTellTheEndUnlessTheCoordinatorCannotKnowOfTheTransaction() {
        for (Known known : all()) {
            assertThat(known.isEndTold()).as("%s", known).isEqualTo(known.begun() != Begun.NO);
        }
    }

    /** Whatever is noted after it. */
    @Test
    void shouldForgetNothingUntilReset() {
        List<Consumer<TransactionFacts>> notes = new ArrayList<>(List.of(
                TransactionFacts::noteContent, TransactionFacts::noteAdded, TransactionFacts::notePerhapsAdded));
        for (Failed failed : Failed.values()) {
            notes.add(each -> each.noteFailed(failed));
        }
        for (boolean explicit : new boolean[] {false, true}) {
            for (Consumer<TransactionFacts> first : notes) {
                for (Consumer<TransactionFacts> second : notes) {
                    facts.reset(explicit);
                    first.accept(facts);
                    Known before = facts.known();
                    second.accept(facts);
                    Known after = facts.known();
                    assertThat(after.begun()).isGreaterThanOrEqualTo(before.begun());
                    assertThat(after.failed()).isGreaterThanOrEqualTo(before.failed());
                    assertThat(after.explicit()).isEqualTo(explicit);
                }
            }
        }
        facts.reset(true);
        assertThat(facts.known()).isEqualTo(new Known(true, Begun.NO, Failed.NOTHING));
    }

    @Test
    void shouldBeginByWritingOnlyWithTheNewerProtocol() {
        facts.reset(false);
        facts.noteContent();
        assertThat(facts.known().begun()).isEqualTo(Begun.YES);

        facts.reset(true);
        facts.noteContent();
        assertThat(facts.known().begun()).isEqualTo(Begun.NO);
        facts.notePerhapsAdded();
        assertThat(facts.known().begun()).isEqualTo(Begun.PERHAPS);
        facts.noteAdded();
        assertThat(facts.known().begun()).isEqualTo(Begun.YES);
    }

    @Test
    void shouldLoseNoNoteWhenThreadsNoteAtTheSameTime() throws InterruptedException {
        for (int round = 0; round < 2_000; round++) {
            facts.reset(true);
            Thread other = new Thread(() -> facts.noteFailed(Failed.NUMBERED));
            other.start();
            facts.noteAdded();
            other.join();

            assertThat(facts.known()).isEqualTo(new Known(true, Begun.YES, Failed.NUMBERED));
        }
    }

    private static boolean isIn(String named, String value) {
        return named.equals(ANY) || List.of(named.split("\\|")).contains(value);
    }

    private static List<Known> all() {
        List<Known> all = new ArrayList<>();
        for (boolean explicit : new boolean[] {false, true}) {
            for (Begun begun : Begun.values()) {
                for (Failed failed : Failed.values()) {
                    all.add(new Known(explicit, begun, failed));
                }
            }
        }
        return all;
    }
}
