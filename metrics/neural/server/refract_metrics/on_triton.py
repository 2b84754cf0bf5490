"""A metric as a model of Triton's Python backend."""

import json

import triton_python_backend_utils as pb

from .protocol import Refused, Server


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.server = Server(json.loads(config["parameters"]["refract"]["string_value"]))

    def execute(self, requests):
        return [self.respond(r) for r in requests]

    def respond(self, request):
        try:
            outputs = self.server.answer({t.name(): t.as_numpy() for t in request.inputs()})
        except Refused as e:
            return pb.InferenceResponse(error=pb.TritonError(str(e), pb.TritonError.INVALID_ARG))
        return pb.InferenceResponse([pb.Tensor(n, v) for n, v in outputs.items()])
