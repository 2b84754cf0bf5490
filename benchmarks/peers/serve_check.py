"""Checks the description of refract serve --listen by OpenAPI's schema; see serve.sh."""

import json
import subprocess
import sys
import urllib.request

import openapi_spec_validator


def main() -> None:
    server = subprocess.Popen([sys.argv[1], "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        hello = json.loads(server.stdout.readline())
        request = urllib.request.Request(hello["url"] + "/openapi.json", headers={"Authorization": "Bearer " + hello["token"]})
        with urllib.request.urlopen(request) as answer:
            description = json.load(answer)
        openapi_spec_validator.OpenAPIV31SpecValidator(description).validate()
        broken = json.loads(json.dumps(description))
        del broken["paths"]["/healthz"]["get"]["responses"]["200"]["description"]
        if openapi_spec_validator.OpenAPIV31SpecValidator(broken).is_valid():
            sys.exit("serve_check.py: an answer without a description is accepted")
        print("the description is OpenAPI 3.1")
    finally:
        server.terminate()
        code = server.wait()
    if code != 130:
        sys.exit(f"serve_check.py: refract serve ended with {code}")


if __name__ == "__main__":
    main()
