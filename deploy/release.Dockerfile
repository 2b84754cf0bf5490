# The image of a release, of a program that is built already:
# .goreleaser.yaml puts it into the context, under its platform.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY LICENSE pages/LICENSES.txt /licenses/
COPY $TARGETPLATFORM/refract /usr/local/bin/
WORKDIR /data
ENTRYPOINT ["refract"]
