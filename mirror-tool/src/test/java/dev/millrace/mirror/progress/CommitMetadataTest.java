package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommitMetadataTest {
    private static final String MARK = MirrorGroup.mark("cluster-1");
    private static final Uuid ID = Uuid.fromString("vPeOCWypqUOSepEvx0cbog");

    @Test
    void shouldReadWhatItWrites() {
        CommitMetadata all = new CommitMetadata(
                MARK, ID, Optional.of(new ResumePoint(4_000_000_000L, (short) 3, 17, 1_234L, 5_678L)));
        CommitMetadata some = new CommitMetadata(MARK, Uuid.ZERO_UUID, Optional.empty());

        assertThat(read(all.toString())).isEqualTo(all);
        assertThat(read(some.toString())).isEqualTo(some);
        assertThat(read(all.withNames("orders", "eu.orders").toString()))
                .isEqualTo(all.withNames("orders", "eu.orders"));
        assertThat(read(some.copiedTo(ID).toString())).isEqualTo(some.copiedTo(ID));
        assertThat(read(all.copiedTo(ID).withNames("orders", "eu.orders").toString()))
                .isEqualTo(all.withNames("orders", "eu.orders").copiedTo(ID));
    }

    @Test
    void shouldSayTheOtherNameOfATopicThatHasTwo() {
        CommitMetadata kept = new CommitMetadata(MARK, ID, Optional.empty());
        CommitMetadata renamed = kept.withNames("orders", "eu.orders");
        OffsetAndMetadata onTarget = renamed.addToOnTarget(new OffsetAndMetadata(9, Optional.of(4), ""));

        assertThat(kept.withNames("orders", "orders")).isEqualTo(kept);
        assertThat(read(renamed.toString())).isEqualTo(renamed);
        assertThat(read(renamed.toString()).otherNameOf("orders")).contains("eu.orders");
        assertThat(CommitMetadata.of(onTarget).otherNameOf("orders")).contains("eu.orders");
        assertThat(CommitMetadata.sourcePosition(onTarget).leaderEpoch()).contains(4);
    }

    @Test
    void shouldKnowThatEarlierVersionsKeptNamesButNotWhatOthersDid() {
        assertThat(read(MARK + ";" + ID + ";1:2:3@4").otherNameOf("orders")).contains("orders");
        assertThat(read("").otherNameOf("orders")).isEmpty();
        assertThat(read("something else").otherNameOf("orders")).isEmpty();
    }

    @Test
    void shouldKeepTheOffsetAndItsLeaderEpoch() {
        OffsetAndMetadata position = new OffsetAndMetadata(9, Optional.of(4), "");

        OffsetAndMetadata marked = new CommitMetadata(MARK, ID, Optional.empty()).addTo(position);

        assertThat(marked.offset()).isEqualTo(9);
        assertThat(marked.leaderEpoch()).contains(4);
        assertThat(marked.metadata()).isEqualTo(MARK + ";" + ID + ";");
    }

    @Test
    void shouldReadWhatAnEarlierVersionWrote() {
        assertThat(read(MARK)).isEqualTo(new CommitMetadata(MARK, Uuid.ZERO_UUID, Optional.empty()));
        assertThat(read(MARK + ";" + ID + ";1:2:3@4").resume())
                .contains(new ResumePoint(1, (short) 2, 3, 4, ResumePoint.UNKNOWN));
    }

    @Test
    void shouldIgnoreWhatALaterVersionAppends() {
        assertThat(read(MARK + ";" + ID + ";1:2:3@4;;;5;more;"))
                .isEqualTo(new CommitMetadata(MARK, ID, Optional.of(new ResumePoint(1, (short) 2, 3, 4, 5))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ";",
                ";;",
                "x;y;z",
                ";not an id at all, and too long;1:2:3",
                ";;1:99999:3@4",
                ";;-1:2:3@4",
                ";;1:2:3@4;;;x"
            })
    void shouldFindNothingInWhatOthersWrote(String metadata) {
        CommitMetadata read = read(metadata);

        assertThat(read.topicId()).isEqualTo(Uuid.ZERO_UUID);
        assertThat(read.resume()).isEmpty();
    }

    private static CommitMetadata read(String metadata) {
        return CommitMetadata.of(new OffsetAndMetadata(0, metadata));
    }
}
