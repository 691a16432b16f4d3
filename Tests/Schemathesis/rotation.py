"""What schemathesis runs beside its own checks.

Each request is sent as the next of several callers, so that the limit of one caller is no hindrance. CONCORD_HEADER is the
header with a caller's credentials, CONCORD_CREDENTIALS has its values, a line for each caller.

A request inside the schema that is refused as malformed (400, 422) must be refused in words that the document has: a rule that
no schema can say. Every other such refusal means that the schema promises too much.
"""

import itertools
import os
import re

import schemathesis

header = os.environ["CONCORD_HEADER"]
callers = itertools.cycle(os.environ["CONCORD_CREDENTIALS"].splitlines())


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers = case.headers or {}
    case.headers[header] = next(callers)


def message(failure):
    error = failure.get("error", failure)
    return error if isinstance(error, str) else error.get("message", "")


def shape(text):
    """Returns a message without what differs each time: ids and numbers."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|-?\d+(, -?\d+)*", "#", text)


def documented(case, status):
    schema = case.operation.schema.raw_schema
    answer = schema["paths"][case.path][case.method.lower()]["responses"].get(str(status), {})
    if "$ref" in answer:
        answer = schema["components"]["responses"][answer["$ref"].split("/")[-1]]
    examples = answer.get("content", {}).get("application/json", {}).get("examples", {})
    return {sentence for example in examples.values() for sentence in sentences(message(example["value"]))}


def sentences(text):
    """Returns the sentences of a message: some contracts report every mistake in one."""
    return set(re.split(r"(?<=\.) ", shape(text)))


@schemathesis.check
def no_malformed_request(context, response, case):
    if response.status_code not in (400, 422) or not case.meta or not case.meta.generation.mode.is_positive:
        return
    found = message(response.json())
    if found.startswith("Idempotency-Key"):
        return
    assert sentences(found) <= documented(case, response.status_code), f"a request inside the schema is malformed: {found}"
