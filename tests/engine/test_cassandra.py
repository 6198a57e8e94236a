"""A real Cassandra node at the end of a stream, read with its own client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, NoHostAvailable, Session
from tests.conftest import EnvironmentFactory
from tests.engine.connector_pages import ConnectorPage
from tests.services.cassandra import cassandra_server
from tests.services.processes import free_port, wait_until

from penstock.common import Duration, Row
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.common.typeinfo import Types
from penstock.datastream.connectors.cassandra import (
    CassandraCommitter,
    CassandraFailureHandler,
    CassandraSink,
    ClusterBuilder,
    ConsistencyLevel,
    MapperOptions,
)

PAIR = Types.TUPLE([Types.INT(), Types.STRING()])
WORDS = "INSERT INTO test.words (id, word) VALUES (?, ?)"


class Login(ClusterBuilder):
    def __init__(self, port: int, password: str = "cassandra") -> None:
        super().__init__()
        self._port = port
        self._password = password

    def build_cluster(self) -> Cluster:
        login = PlainTextAuthProvider("cassandra", self._password)
        return Cluster(["127.0.0.1"], port=self._port, auth_provider=login)


class Forgiving(CassandraFailureHandler):
    def on_failure(self, failure: BaseException) -> None:
        assert "65535" in str(failure)


@pytest.fixture(scope="module")
def builder() -> Iterator[ClusterBuilder]:
    with cassandra_server() as port:
        builder = Login(port)

        def answers() -> bool:
            """The node makes its first user some seconds after it has opened its port."""
            cluster = builder.build_cluster()
            try:
                cluster.connect()
            except NoHostAvailable:
                return False
            finally:
                cluster.shutdown()
            return True

        wait_until(answers, "Cassandra to know its first user", 60)
        yield builder


@pytest.fixture
def session(builder: Login) -> Iterator[Session]:
    cluster = builder.build_cluster()
    session = cluster.connect()
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS test WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute("CREATE TABLE IF NOT EXISTS test.words (id int PRIMARY KEY, word text, note text)")
    session.execute("TRUNCATE test.words")
    yield session
    cluster.shutdown()


def words(session: Session) -> dict[int, Any]:
    return {row.id: row.word for row in session.execute("SELECT id, word FROM test.words")}


@pytest.mark.parametrize("logged", [False, True])
def test_rows_arrive_and_the_last_of_each_key_stays(
    local_env: EnvironmentFactory, builder: Login, session: Session, logged: bool
) -> None:
    env = local_env(2, epoch_records=200)
    records = [(n % 300, f"word {n}") for n in range(3_000)]
    stream = env.from_collection(records, PAIR).key_by(lambda pair: pair[0]).map(lambda pair: pair, PAIR)
    sink = CassandraSink.add_sink(stream).set_query(WORDS).set_cluster_builder(builder)
    if logged:
        sink.enable_write_ahead_log(CassandraCommitter.default_checkpoint_committer(builder, "test_notes"))
    else:
        sink.set_max_concurrent_requests(50, Duration.of_minutes(1))
    sink.build().name("words").uid("words").set_parallelism(2).disable_chaining()
    env.execute()
    assert words(session) == {n % 300: f"word {n}" for n in range(2_700, 3_000)}
    if logged:
        (table,) = session.execute("SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'test_notes'")
        notes = list(session.execute(f"SELECT sink_id, checkpoint_id FROM test_notes.{table.table_name}"))
        assert [note.sink_id for note in notes] == ["words", "words"] and min(note.checkpoint_id for note in notes) > 1


def test_an_epoch_that_was_noted_is_not_sent_again(builder: Login, session: Session) -> None:
    committer = CassandraCommitter.default_checkpoint_committer(builder)
    committer.set_job_id("abc")
    committer.set_operator_id("words")
    committer.create_resource()
    committer.create_resource()
    committer.open()
    assert not committer.is_checkpoint_committed(1, 0)
    committer.commit_checkpoint(1, 7)
    assert committer.is_checkpoint_committed(1, 6) and committer.is_checkpoint_committed(1, 7)
    assert not committer.is_checkpoint_committed(1, 8) and not committer.is_checkpoint_committed(0, 7)
    assert not committer.committed_content(1) and not committer.committed_content(0)
    committer.commit_content(1, 8, "some records")
    assert committer.is_checkpoint_committed(1, 8) and committer.committed_content(1) == "some records"
    committer.close()


def test_notes_of_earlier_versions_are_understood(builder: Login, session: Session) -> None:
    session.execute("CREATE KEYSPACE old_notes WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute(
        "CREATE TABLE old_notes.checkpoints_abc"
        " (sink_id text, sub_id int, checkpoint_id bigint, PRIMARY KEY (sink_id, sub_id))"
    )
    session.execute("INSERT INTO old_notes.checkpoints_abc (sink_id, sub_id, checkpoint_id) VALUES ('words', 0, 3)")
    committer = CassandraCommitter.default_checkpoint_committer(builder, "old_notes")
    committer.set_job_id("abc")
    committer.set_operator_id("words")
    committer.create_resource()
    committer.open()
    assert committer.is_checkpoint_committed(0, 3) and committer.committed_content(0) is None
    committer.commit_content(0, 4, "some records")
    assert committer.is_checkpoint_committed(0, 4) and committer.committed_content(0) == "some records"
    committer.close()


@pytest.mark.parametrize(("ignores", "note"), [(False, None), (True, "old")])
def test_what_none_does_to_a_column(
    local_env: EnvironmentFactory, builder: Login, session: Session, ignores: bool, note: str | None
) -> None:
    session.execute("INSERT INTO test.words (id, word, note) VALUES (1, 'a', 'old')")
    env = local_env()
    rows = env.from_collection([Row(1, "b", None)], Types.ROW([Types.INT(), Types.STRING(), Types.STRING()]))
    sink = CassandraSink.add_sink(rows).set_query("INSERT INTO test.words (id, word, note) VALUES (?, ?, ?)")
    sink.set_cluster_builder(builder).set_mapper_options(MapperOptions().consistency_level(ConsistencyLevel.ONE))
    if ignores:
        sink.enable_ignore_null_fields()
    sink.build()
    env.execute()
    assert [(row.word, row.note) for row in session.execute("SELECT word, note FROM test.words")] == [("b", note)]


def test_a_statement_that_fails(local_env: EnvironmentFactory, builder: Login, session: Session) -> None:
    """A text of 70,000 bytes is too long for a key: the server says so when it is sent."""
    session.execute("CREATE TABLE IF NOT EXISTS test.texts (id text PRIMARY KEY)")
    texts = [("a",), ("b" * 70_000,), ("c",)]

    def run(**handler: CassandraFailureHandler) -> None:
        env = local_env()
        sink = CassandraSink.add_sink(env.from_collection(texts, Types.TUPLE([Types.STRING()])))
        sink.set_query("INSERT INTO test.texts (id) VALUES (?)").set_cluster_builder(builder)
        if handler:
            sink.set_failure_handler(handler["by"])
        sink.build()
        env.execute()

    with pytest.raises(JobExecutionError, match=r"Cassandra at 127.0.0.1, port \d+: a statement failed: .*65535"):
        run()
    with pytest.raises(JobExecutionError, match="65535"):
        run(by=CassandraFailureHandler.no_op())
    run(by=Forgiving())
    assert {row.id for row in session.execute("SELECT id FROM test.texts")} == {"a", "c"}


def test_who_cannot_be_reached_is_named_once(
    local_env: EnvironmentFactory, builder: Login, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = Login(builder._port, "wr0ng-w0rd")
    for place, said in ((wrong, "password are incorrect"), (Login(free_port()), r"Cassandra at 127.0.0.1.* is away")):
        env = local_env()
        sink = CassandraSink.add_sink(env.from_collection([(1, "a")], PAIR)).set_query(WORDS)
        sink.set_cluster_builder(place).build()
        with pytest.raises(JobExecutionError, match=said) as failure:
            env.execute()
        assert "wr0ng-w0rd" not in str(failure.value) + caplog.text
    assert not [record for record in caplog.records if record.name.startswith("cassandra")]


def test_programs_that_cannot_run_are_refused(local_env: EnvironmentFactory) -> None:
    env = local_env()
    pairs = env.from_collection([(1, "a")], PAIR)
    with pytest.raises(ProgramError, match="tuples or rows"):
        CassandraSink.add_sink(env.from_collection([1], Types.INT()))
    with pytest.raises(ProgramError, match="Query must not be"):
        CassandraSink.add_sink(pairs).set_host("localhost").build()
    with pytest.raises(ProgramError, match="Where is Cassandra"):
        CassandraSink.add_sink(pairs).set_query(WORDS).build()
    with pytest.raises(ProgramError, match="once"):
        CassandraSink.add_sink(pairs).set_host("localhost").set_host("localhost")
    with pytest.raises(NotSupportedError, match="build_cluster"):
        ClusterBuilder().build_cluster()
    with pytest.raises(NotSupportedError, match="Java"):
        CassandraFailureHandler(object())


def test_the_program_of_the_page(
    local_env: EnvironmentFactory, builder: Login, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute("CREATE TABLE shop.totals (customer text PRIMARY KEY, total bigint)")
    page = ConnectorPage("cassandra", local_env(2), monkeypatch)
    page.run({'.set_host("localhost")': ".set_cluster_builder(login)"}, login=builder)
    assert dict(session.execute("SELECT customer, total FROM shop.totals")) == {"Ann": 3, "Bob": 5}
