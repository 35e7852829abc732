"""Questions to a server that runs elsewhere: `collocate serve`."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ._names import renamed
from .errors import CollocateError, need, warn

_ALL_HITS = 1 << 31  # more than the documents of any index


def connect(
    url: str, *, index: str | None = None, token: str | None = None, timeout: float = 60
) -> Remote:
    """Connects to a server.

    url: where it is: "https://search.example.org", also below a path.
    index: the name of one of its indexes, if it has several.
    token: what the server wants, if it wants one.
    timeout: seconds that an answer may take.
    """
    return Remote(url, index=index, token=token, timeout=timeout)


class _NoDocument(LookupError):
    """No document has an ID."""


class Answer(dict[str, Any]):
    """An answer of a server: a dict, whose values are also attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the answer has no {name}: it has {', '.join(self)}") from None

    def to_pandas(self) -> Any:
        """A DataFrame of the answer's table: its first list of objects."""
        pd = need("pandas", "pandas")
        for value in self.values():
            if isinstance(value, list) and all(isinstance(row, dict) for row in value):
                return pd.DataFrame(value)
        raise ValueError(f"the answer has no table: it has {', '.join(self)}")


class Remote:
    """A server. Its questions are methods: what they are called and take, it says itself.

    >>> remote = collocate.connect("http://localhost:8080")
    >>> remote.search("lipid droplets", k=5).hits
    >>> remote.concordance(q="droplet", window=8).to_pandas()
    >>> remote.company("membrane")

    dir(remote) lists the questions, help(remote.concordance) what one takes. Parameters have the
    names of docs/reference.md. Several threads may use a Remote at the same time.
    """

    def __init__(self, url: str, *, index: str | None, token: str | None, timeout: float):
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url={url!r}: want http://HOST:PORT or https://HOST")
        if parts.query or parts.fragment:
            raise ValueError(f"url={url!r}: want it without ? and #")
        self._host, self._base = parts.netloc, parts.path.rstrip("/")
        self._secure = parts.scheme == "https"
        self.url: str = f"{parts.scheme}://{self._host}{self._base}"
        self.index: str | None = index
        self._timeout = timeout
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._local = threading.local()
        self._questions = _questions(self._ask("GET", "/v1/openapi.json", at_index=False))

    def __repr__(self) -> str:
        return f"collocate.connect({self.url!r}" + (
            f", index={self.index!r})" if self.index else ")"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._questions})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._questions:
            raise AttributeError(
                f"{self.url} has no question {name}: it has {', '.join(sorted(self._questions))}"
            )
        question = self._questions[name]

        def ask(*values: str, **parameters: Any) -> Any:
            return self._ask(*question.request(values, parameters))

        ask.__name__, ask.__doc__ = name, question.help()
        return ask

    def search(self, queries: str | Sequence[str], **parameters: Any) -> Any:
        """Finds the documents that match a query best, or for several queries a list of answers.

        Parameters are those of docs/reference.md: k, filter, mode, model, snippets, facet, ...
        """
        if isinstance(queries, str):
            question = self._questions["search"]
            answer = self._ask(*question.request((), {"q": queries, **parameters}))
            for note in answer.get("notes", ()):
                warn(note)
            return answer
        self._questions["search"].check({"q": "", **parameters})
        lines = [json.dumps({"q": q, **_named(parameters)}) for q in queries]
        body = "".join(line + "\n" for line in lines).encode()
        answers = self._ask("POST", "/v1/search", body=body, kind="application/x-ndjson")
        if len(answers) != len(lines):
            raise CollocateError(f"{self.url}: {len(answers)} answers to {len(lines)} queries")
        return answers

    def search_all(self, query: str, **parameters: Any) -> Iterator[Answer]:
        """All documents that match a query, best first, one by one: there may be millions.

        Parameters are those of `search`, without k, facet and stats. All hits come from the index
        as it is now, also if it changes meanwhile.
        """
        method, path = self._questions["search"].request(
            (), {"q": query, **parameters, "k": _ALL_HITS}
        )
        stream = Remote.__new__(Remote)  # others may ask before the last hit was read
        stream.__dict__.update(self.__dict__, _local=threading.local())
        try:
            reply = stream._send(method, path, None, {"Accept": "application/x-ndjson"})
            if reply.status != 200:
                self._answer(reply.status, reply.read(), reply.getheader("Content-Type") or "")
            for line in reply:
                hit = Answer(json.loads(line))
                if "error" in hit and "rank" not in hit:
                    raise CollocateError(f"{self.url}: {hit['error']}")
                yield hit
        finally:
            stream.close()

    def add(self, documents: Iterable[Mapping[str, Any]], *, refresh: bool = True) -> Any:
        """Adds documents, or replaces those with the same ID. Each is a mapping with its "id".

        The server must allow it (--writable). With refresh, searches find them when this returns.
        """
        lines = "".join(json.dumps(dict(d), ensure_ascii=False) + "\n" for d in documents)
        return self._ask(
            "POST", f"/v1/documents{'?refresh=true' if refresh else ''}",
            body=lines.encode(), kind="application/x-ndjson",
        )  # fmt: skip

    @renamed(id="ids")
    def delete(
        self, ids: str | Iterable[str] | None = None, *, query: str | None = None,
        refresh: bool = True,
    ) -> Any:  # fmt: skip
        """Deletes the document with an ID, or with these IDs, or all that match a query.

        query: as in `search`; of several words any may match, "*" matches all. Of several IDs,
        those that no document has are passed over. The answer says how many were deleted.
        """
        names = [ids] if isinstance(ids, str) else list(ids or ())
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"ids={name!r}: want a str, or a list of str")
        if query is not None and (names or not query.strip()):
            raise ValueError('query= has words, or is "*" for all documents, and excludes IDs')
        soon = {"refresh": "true"} if refresh else {}
        if query is not None:
            answer = self._ask("DELETE", f"/v1/documents?{urlencode({'q': query, **soon})}")
            for note in answer.get("notes", ()):
                warn(note)
            return answer
        if isinstance(ids, str):
            return self._ask("DELETE", f"/v1/documents/{quote(ids, safe='')}?{urlencode(soon)}")
        deleted = 0
        answer = Answer(added=0, failed=0, durable=False)
        for name in names:
            try:
                answer = self._ask("DELETE", f"/v1/documents/{quote(name, safe='')}")
                deleted += answer["deleted"]
            except _NoDocument:
                pass
        if refresh and deleted:
            answer = self._ask("POST", "/v1/commit")
        answer["deleted"] = deleted
        return answer

    def close(self) -> None:
        """Closes this thread's connection. The next question opens another."""
        if (c := getattr(self._local, "connection", None)) is not None:
            c.close()
            self._local.connection = None

    def _ask(
        self, method: str, path: str, *, body: bytes | None = None, kind: str = "application/json",
        at_index: bool = True,
    ) -> Any:  # fmt: skip
        headers = {} if body is None else {"Content-Type": kind}
        reply = self._send(method, path, body, headers, at_index=at_index)
        try:
            data = reply.read()
        except OSError as err:
            self.close()
            raise CollocateError(f"{self.url}: {err}") from err
        return self._answer(reply.status, data, reply.getheader("Content-Type") or "")

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], *,
        at_index: bool = True,
    ) -> http.client.HTTPResponse:  # fmt: skip
        if at_index and self.index is not None and not path.startswith(("/v1/indexes", "/v1/jobs")):
            path = f"/v1/indexes/{quote(self.index, safe='')}{path.removeprefix('/v1')}"
        headers = {**self._headers, **headers}
        for again in (True, False):
            c = self._connection()
            fresh = c.sock is None
            try:
                c.request(method, self._base + path, body, headers)
                return c.getresponse()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.close()
                # A server closes idle connections. A change may have been made: not again.
                if fresh or not again or method != "GET":
                    raise
            except OSError as err:
                self.close()
                raise CollocateError(f"{self.url}: {err}") from err
        raise AssertionError("not reached")

    def _answer(self, status: int, data: bytes, kind: str) -> Any:
        try:
            if status < 400 and "ndjson" in kind:
                answers = [Answer(json.loads(line)) for line in data.splitlines()]
                if answers and "hits" not in answers[-1] and "error" in answers[-1]:
                    raise CollocateError(f"{self.url}: {answers[-1]['error']}")
                return answers
            answer = json.loads(data) if data else {}
        except ValueError:
            raise CollocateError(
                f"{self.url} is no Collocate server: status {status}, {kind}"
            ) from None
        if status >= 400:
            message = f"{self.url}: {answer.get('error') or answer.get('detail') or status}"
            if status in (401, 403):
                raise PermissionError(message)
            if status == 404:
                raise (_NoDocument if answer.get("code") == "no_document" else LookupError)(message)
            raise ValueError(message) if status < 429 else CollocateError(message)
        return Answer(answer) if isinstance(answer, dict) else answer

    def _connection(self) -> http.client.HTTPConnection:
        c = getattr(self._local, "connection", None)
        if c is None:
            make = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            c = self._local.connection = make(self._host, timeout=self._timeout)
        return c


class _Question:
    """A question of the server's description."""

    def __init__(self, path: str, operation: Mapping[str, Any]):
        self.path, self.summary = path, operation.get("summary", "")
        declared = operation.get("parameters", [])
        self.names = {p["name"]: p for p in declared if p.get("in") == "query"}
        self.places = re.findall(r"\{(\w+)\}", path)

    def request(self, values: Sequence[str], parameters: Mapping[str, Any]) -> tuple[str, str]:
        if len(values) != len(self.places):
            raise TypeError(f"{self.path} takes {', '.join(self.places) or 'only named values'}")
        self.check(parameters)
        path = self.path
        for place, value in zip(self.places, values, strict=True):
            path = path.replace("{" + place + "}", quote(value, safe=""))
        said = urlencode({n: _in_url(v) for n, v in _named(parameters).items()})
        return "GET", path + ("?" + said if said else "")

    def check(self, parameters: Mapping[str, Any]) -> None:
        for name in _named(parameters):
            if name not in self.names:
                raise TypeError(f"unknown parameter {name}: want {', '.join(self.names)}")

    def help(self) -> str:
        lines = [self.summary, ""]
        lines += [f"{n}: {p.get('description', '')}" for n, p in self.names.items()]
        return "\n".join(lines)


def _named(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as the server names them: from for from_, without those that are None."""
    return {n.rstrip("_"): v for n, v in parameters.items() if v is not None}


def _in_url(value: Any) -> Any:
    """A value as URLs have it: true for True, and commas in a list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return value


def _questions(document: Mapping[str, Any]) -> dict[str, _Question]:
    """The questions of an OpenAPI document that a GET asks, by their names in Python."""
    found = {}
    for path, methods in document["paths"].items():
        if "get" in methods and "{index}" not in path:
            name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", methods["get"]["operationId"]).lower()
            shared = methods.get("parameters", [])
            operation = dict(methods["get"])
            operation["parameters"] = _resolved(
                document, [*shared, *operation.get("parameters", [])]
            )
            found[name] = _Question(path, operation)
    return found


def _resolved(document: Mapping[str, Any], parameters: list[Any]) -> list[Any]:
    out = []
    for p in parameters:
        if "$ref" in p:
            at: Any = document
            for part in p["$ref"].removeprefix("#/").split("/"):
                at = at[part]
            p = at
        out.append(p)
    return out
