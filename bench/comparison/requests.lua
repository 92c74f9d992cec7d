-- Requests for wrk, with new IBANs in each. Arguments: the file of the body, new IBANs per request, the first of them.

local head = "POST %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
local parts, slots = {}, {}
local new_ibans, next_iban, constant

-- As in distinct-ibans.ts.
local function distinct_iban(n)
  local modulo = ((1e7 % 97) * (1e10 % 97) + n) % 97
  return string.format("DE%02d%08d%010d", 98 - (modulo * 1e6 + 131400) % 97, 1e7, n)
end

function init(args)
  local file = assert(io.open(args[1]))
  local body = file:read("*a")
  file:close()
  new_ibans, next_iban = tonumber(args[2]), tonumber(args[3])
  local length, from = #body, 1
  for before, slot, after in body:gmatch("()<(%d+)>()") do
    parts[#parts + 1] = body:sub(from, before - 1)
    slots[#slots + 1] = tonumber(slot)
    parts[#parts + 1] = ""
    length, from = length - (after - before) + 22, after
  end
  parts[#parts + 1] = body:sub(from)
  parts[1] = head:format(wrk.path, wrk.headers["Host"] or wrk.host, length) .. parts[1]
  if #slots == 0 then constant = parts[1] end
end

function request()
  if constant then return constant end
  local ibans = {}
  for index = 1, new_ibans do ibans[index] = distinct_iban(next_iban + index - 1) end
  next_iban = next_iban + new_ibans
  for index, slot in ipairs(slots) do parts[2 * index] = ibans[slot + 1] end
  return table.concat(parts)
end

-- Durations in microseconds.
function done(summary, latency)
  local errors = summary.errors
  local values = { summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status + errors.connect + errors.read + errors.write, errors.timeout }
  io.write(string.format('\n{"requests":%d,"us":%d,"p50Us":%d,"p99Us":%d,"failed":%d,"timedOut":%d}\n', unpack(values)))
end
