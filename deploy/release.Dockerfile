# The image of a release, with a program that is already built: .goreleaser.yaml puts it into the
# context, under its platform.
FROM gcr.io/distroless/static-debian12:nonroot@sha256:d093aa3e30dbadd3efe1310db061a14da60299baff8450a17fe0ccc514a16639
ARG TARGETPLATFORM
COPY LICENSE pages/LICENSES.txt /licenses/
COPY $TARGETPLATFORM/refract /usr/local/bin/
WORKDIR /data
ENTRYPOINT ["refract"]
