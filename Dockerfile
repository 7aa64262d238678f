# docker build -t conversation-mcp . && docker run -i --rm -e PERPLEXITY_API_KEY -v conversations:/data conversation-mcp
FROM python:3.11-slim AS build
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY src /source/src
# docker build --build-arg EXTRAS=[postgres] adds what a database needs.
ARG EXTRAS=""
RUN python -m venv /opt/conversation-mcp \
 && /opt/conversation-mcp/bin/pip install --no-cache-dir --constraint /source/constraints.txt "/source$EXTRAS" \
 && /opt/conversation-mcp/bin/python -m compileall -q -j 0 /opt/conversation-mcp/lib

FROM python:3.11-slim
LABEL org.opencontainers.image.title="conversation-mcp" \
      org.opencontainers.image.description="An MCP server that turns one-shot answer engines into conversations that last." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT" \
      io.modelcontextprotocol.server.name="com.example/conversation-mcp"
RUN useradd --create-home --uid 10001 conversation && install --directory --owner 10001 --group 10001 --mode 0700 /data
COPY --from=build /opt/conversation-mcp /opt/conversation-mcp
ENV PATH="/opt/conversation-mcp/bin:$PATH" \
    CONVERSATION_LOGS_DIR="/data"
USER 10001:10001
WORKDIR /home/conversation
VOLUME ["/data"]
ENTRYPOINT ["conversation-mcp"]
