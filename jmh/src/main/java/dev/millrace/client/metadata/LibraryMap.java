package dev.millrace.client.metadata;

import dev.millrace.client.metadata.SampleCluster.Topic;
import java.util.List;
import java.util.function.BinaryOperator;
import org.organicdesign.fp.collections.PersistentHashMap;
import org.pcollections.HashPMap;
import org.pcollections.HashTreePMap;
import scala.Tuple2;

/**
 * The same topics in a persistent map of a library, without their numbers. Each loads and changes many entries in the
 * quickest way that it has.
 */
abstract class LibraryMap<M> implements MetadataSide {
    static final String PCOLLECTIONS = "pcollections";
    static final String SCALA = "scala";
    static final String PAGURO = "paguro";

    /** Null if there is none of this name. */
    static LibraryMap<?> ofNameOrNull(String library) {
        return switch (library) {
            case PCOLLECTIONS -> new PCollections();
            case SCALA -> new Scala();
            case PAGURO -> new Paguro();
            default -> null;
        };
    }

    abstract M loaded(List<TopicImage> topics);

    /** The map with the answers merged into the topics that it has. */
    abstract M merged(M map, List<TopicImage> answers);

    abstract TopicImage get(M map, String name);

    @Override
    public final Object read(List<Topic> answer) {
        return answer.stream().map(Topic::toImage).toList();
    }

    @Override
    public final Object load(Object read) {
        return loaded(topics(read));
    }

    @Override
    public final Object apply(Object metadata, Object read) {
        return merged(map(metadata), topics(read));
    }

    @Override
    public final int countPartitions(Object metadata, String topic) {
        return get(map(metadata), topic).partitions();
    }

    @SuppressWarnings("unchecked")
    private static List<TopicImage> topics(Object read) {
        return (List<TopicImage>) read;
    }

    @SuppressWarnings("unchecked")
    private M map(Object metadata) {
        return (M) metadata;
    }

    /** What the brokers' image has been made of since KAFKA-14735: the paper's persistent version. */
    private static final class PCollections extends LibraryMap<HashPMap<String, TopicImage>> {
        @Override
        HashPMap<String, TopicImage> loaded(List<TopicImage> topics) {
            HashPMap<String, TopicImage> map = HashTreePMap.empty();
            for (TopicImage topic : topics) {
                map = map.plus(topic.name, topic);
            }
            return map;
        }

        @Override
        HashPMap<String, TopicImage> merged(HashPMap<String, TopicImage> map, List<TopicImage> answers) {
            HashPMap<String, TopicImage> next = map;
            for (TopicImage answer : answers) {
                next = next.plus(answer.name, next.get(answer.name).withAnswer(answer));
            }
            return next;
        }

        @Override
        TopicImage get(HashPMap<String, TopicImage> map, String name) {
            return map.get(name);
        }
    }

    /** CHAMP, as in Scala 2.13. */
    private static final class Scala extends LibraryMap<scala.collection.immutable.HashMap<String, TopicImage>> {
        @Override
        scala.collection.immutable.HashMap<String, TopicImage> loaded(List<TopicImage> topics) {
            var builder = scala.collection.immutable.HashMap.<String, TopicImage>newBuilder();
            for (TopicImage topic : topics) {
                builder.addOne(new Tuple2<>(topic.name, topic));
            }
            return builder.result();
        }

        @Override
        scala.collection.immutable.HashMap<String, TopicImage> merged(
                scala.collection.immutable.HashMap<String, TopicImage> map, List<TopicImage> answers) {
            scala.collection.immutable.HashMap<String, TopicImage> next = map;
            for (TopicImage answer : answers) {
                next = next.updated(answer.name, next.apply(answer.name).withAnswer(answer));
            }
            return next;
        }

        @Override
        TopicImage get(scala.collection.immutable.HashMap<String, TopicImage> map, String name) {
            return map.apply(name);
        }
    }

    private static final class Paguro extends LibraryMap<PersistentHashMap<String, TopicImage>> {
        @Override
        PersistentHashMap<String, TopicImage> loaded(List<TopicImage> topics) {
            return merged(PersistentHashMap.empty(), topics, (known, answer) -> answer);
        }

        @Override
        PersistentHashMap<String, TopicImage> merged(
                PersistentHashMap<String, TopicImage> map, List<TopicImage> answers) {
            return merged(map, answers, TopicImage::withAnswer);
        }

        private static PersistentHashMap<String, TopicImage> merged(
                PersistentHashMap<String, TopicImage> map, List<TopicImage> answers, BinaryOperator<TopicImage> merge) {
            PersistentHashMap.MutHashMap<String, TopicImage> next = map.mutable();
            for (TopicImage answer : answers) {
                next = next.assoc(answer.name, merge.apply(map.get(answer.name), answer));
            }
            return next.immutable();
        }

        @Override
        TopicImage get(PersistentHashMap<String, TopicImage> map, String name) {
            return map.get(name);
        }
    }
}
