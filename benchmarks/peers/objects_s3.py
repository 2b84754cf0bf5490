"""Makes the bucket, and gets and puts its objects, for objects.sh.

usage: objects_s3.py URL make | get KEY | put FILE
"""

import sys

import boto3
from botocore.config import Config

url, what, *rest = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=url, config=Config(s3={"addressing_style": "path"}))
if what == "make":
    s3.create_bucket(Bucket="bucket")
elif what == "get":
    sys.stdout.buffer.write(s3.get_object(Bucket="bucket", Key=rest[0])["Body"].read())
elif what == "put":
    with open(rest[0], "rb") as f:
        s3.put_object(Bucket="bucket", Key=rest[0], Body=f.read())
