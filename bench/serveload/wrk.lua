-- Makes wrk send the queries of the file QUERIES in turn. bench/serveload starts it.
local requests, i = {}, 0

function init()
  for line in io.lines(os.getenv("QUERIES")) do
    requests[#requests + 1] = wrk.format("GET", "/search?q=" .. line)
  end
end

function request()
  i = i % #requests + 1
  return requests[i]
end
