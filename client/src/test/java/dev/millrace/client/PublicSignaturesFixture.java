package dev.millrace.client;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** Names internal types in every place of a signature, for {@link PublicSignatures} to find. */
public class PublicSignaturesFixture<T extends TopicImage> extends AtomicReference<ClusterImage>
        implements Iterable<TopicRegistry> {
    private static final long serialVersionUID = 1;

    protected transient ClusterImage field;

    /** Not a part of the API. */
    ClusterImage packagePrivate;

    protected PublicSignaturesFixture(ClusterImage image) {
        super(image);
    }

    @Override
    public Iterator<TopicRegistry> iterator() {
        return Collections.emptyIterator();
    }

    public ClusterImage result() {
        return get();
    }

    public void nested(Map<String, ? extends List<TopicImage[]>> topics) {}

    public <B extends List<? super TopicImage>> void bound(B topics) {}

    public void thrown() throws InternalException {}

    /** A class of a public package that is not public. */
    public void notPublic(List<SendContext<?, ?>> contexts) {}

    ClusterImage packagePrivate() {
        return packagePrivate;
    }

    /** As visible as the class around it. */
    protected static class Inner {
        protected TopicImage inner;

        protected Inner() {}
    }

    /** Not visible, whatever it has. */
    static class Hidden {
        public ClusterImage hidden;
    }

    /** Internal as it is not public. */
    static class InternalException extends Exception {
        private static final long serialVersionUID = 1;
    }
}
