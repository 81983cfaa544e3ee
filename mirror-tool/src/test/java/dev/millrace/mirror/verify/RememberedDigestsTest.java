package dev.millrace.mirror.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class RememberedDigestsTest {
    private static final int CAPACITY = 8;

    @Property
    void shouldKnowTheLastOnesAndNoOther(@ForAll @Size(max = 100) List<@IntRange(max = 30) Integer> digests) {
        RememberedDigests remembered = new RememberedDigests(CAPACITY);

        digests.forEach(remembered::add);

        List<Integer> last = digests.subList(Math.max(0, digests.size() - CAPACITY), digests.size());
        for (int digest = 0; digest <= 30; digest++) {
            assertThat(remembered.contains(digest)).as("%d", digest).isEqualTo(last.contains(digest));
        }
    }
}
