# The image of a release, of programs that are built already:
# .goreleaser.yaml puts them into the context, under their platform.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY LICENSE pages/LICENSES.txt /licenses/
COPY $TARGETPLATFORM/refract $TARGETPLATFORM/refract-languages /usr/local/bin/
WORKDIR /data
ENTRYPOINT ["refract"]
