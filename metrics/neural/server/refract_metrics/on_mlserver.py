"""A metric as a model of MLServer, which leaves the checking of types and shapes to the model."""

import asyncio

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec, StringCodec
from mlserver.errors import InferenceError
from mlserver.types import InferenceRequest, InferenceResponse

from .protocol import Refused, Server


class MLServerModel(MLModel):
    async def load(self):
        self.turn = asyncio.Lock()
        # One model at a time: transformers patches PyTorch while it loads.
        self.server = Server(self.settings.parameters.extra)
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        try:
            given = {t.name: array(t) for t in payload.inputs}
            async with self.turn:
                outputs = await asyncio.to_thread(self.server.answer, given)
        except Refused as e:
            raise InferenceError(str(e)) from e
        return InferenceResponse(model_name=self.name, outputs=[
            StringCodec.encode_output(n, [x.decode() for x in v]) if v.dtype == object
            else NumpyCodec.encode_output(n, v) for n, v in outputs.items()])


def array(tensor):
    if tensor.datatype not in ("BYTES", "INT32"):
        raise Refused(f"input {tensor.name!r} is {tensor.datatype}: it takes BYTES or INT32")
    try:
        if tensor.datatype == "BYTES":
            values = np.empty(len(tensor.data), object)
            values[:] = StringCodec.decode_input(tensor)
        else:
            values = NumpyCodec.decode_input(tensor)
        return values.reshape(tensor.shape)
    except (ValueError, TypeError, AttributeError, OverflowError) as e:
        raise Refused(f"input {tensor.name!r} of shape {tensor.shape} cannot be read: {e}") from e
