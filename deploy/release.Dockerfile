# The image of a release, of programs that are built already:
# $TARGETPLATFORM/refract and $TARGETPLATFORM/refract-languages in the context.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/refract $TARGETPLATFORM/refract-languages /usr/local/bin/
WORKDIR /data
ENTRYPOINT ["refract"]
