"""Signs requests to S3 with botocore, AWS's own library. Reads a JSON object from each line, and writes a JSON string on a line.

{"kind": "url", …}      the presigned URL of get_object or put_object
{"kind": "header", …}   the value of Authorization for any request
"""

import datetime
import json
import sys

import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.session
import botocore.utils

clock = datetime.datetime(2000, 1, 1)
botocore.auth.get_current_datetime = lambda *_, **__: clock
session = botocore.session.Session()
clients = {}


def client(case):
    """Returns a client for the location, which is created once. The credentials are given with each request."""
    place = (case["endpoint"], case["region"], case["style"])
    if place not in clients:
        clients[place] = session.create_client(
            "s3",
            endpoint_url=case["endpoint"],
            region_name=case["region"],
            aws_access_key_id="replaced",
            aws_secret_access_key="replaced",
            config=botocore.config.Config(
                signature_version="s3v4",
                s3={"addressing_style": case["style"], "us_east_1_regional_endpoint": "regional"},
                request_checksum_calculation="when_required",
            ),
        )
    return clients[place]


def credentials(case):
    return botocore.credentials.Credentials(case["accessKey"], case["secretKey"], case["token"])


def presigned_url(case):
    parameters = {"Bucket": case["bucket"], "Key": case["key"], **case["parameters"]}
    s3 = client(case)
    s3._request_signer._credentials = credentials(case)
    url = s3.generate_presigned_url(case["operation"], Params=parameters, ExpiresIn=case["expires"])
    # botocore writes its own parameters after the operation's. The signature covers them in sorted order, in which
    # Concord also sends them. The order is the only allowed difference.
    address, query = url.split("?")
    *parameters, signature = query.split("&")
    assert signature.startswith("X-Amz-Signature=")
    return address + "?" + "&".join(sorted(parameters, key=lambda pair: pair.split("=")) + [signature])


def authorization(case):
    request = botocore.awsrequest.AWSRequest(
        method=case["method"],
        url=case["origin"] + botocore.utils.percent_encode(case["path"], safe="/~"),
        params=case["query"],
        headers=case["headers"],
        data=case["body"].encode(),
    )
    botocore.auth.S3SigV4Auth(credentials(case), "s3", case["region"]).add_auth(request)
    return request.headers["Authorization"]


for line in sys.stdin:
    case = json.loads(line)
    clock = datetime.datetime.fromtimestamp(case["time"], datetime.timezone.utc)
    print(json.dumps(presigned_url(case) if case["kind"] == "url" else authorization(case)))
