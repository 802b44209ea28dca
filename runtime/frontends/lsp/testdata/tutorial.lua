-- The guide "your first palette", in an editor. Each step prints a line; the test
-- compares them. Debian's nvim has no -l, hence -S.
local function say(...) io.stdout:write(table.concat({...}, " ") .. "\n") end
local ok, err = pcall(function()
  local root = vim.env.TUTORIAL
  vim.opt.swapfile = false
  local client = vim.lsp.start_client({ name = "verbatim", cmd = { vim.env.VERBATIM, "lsp" }, root_dir = root, workspace_folders = {{ uri = vim.uri_from_fname(root), name = "rooms" }} })
  local function open(name, filetype)
    vim.cmd("edit " .. root .. "/" .. name)
    local buf = vim.api.nvim_get_current_buf()
    vim.bo[buf].filetype = filetype
    vim.lsp.buf_attach_client(buf, client)
    return buf
  end
  local function diagnostics(buf, want, about)
    vim.wait(10000, function()
      local all = vim.diagnostic.get(buf)
      return #all == want and (want == 0 or all[1].message:find(about, 1, true) ~= nil)
    end, 10)
    local found = vim.diagnostic.get(buf)
    for _, d in ipairs(found) do say("diagnostic", d.lnum + 1 .. ":" .. d.col + 1, (d.message:gsub("\n.*", ""))) end
    if #found == 0 then say("no diagnostics") end
    return found
  end
  local function ask(buf, method, params)
    local answers, why = vim.lsp.buf_request_sync(buf, method, params, 10000)
    if not answers then error(method .. ": " .. tostring(why)) end
    local answer = answers[client]
    if answer.err then error(method .. ": " .. answer.err.message) end
    return answer.result
  end
  local function here(buf, line, col) return { textDocument = { uri = vim.uri_from_bufnr(buf) }, position = { line = line, character = col } } end

  local palette = open("verbs/rooms.yaml", "yaml")
  vim.wait(10000, function() return vim.lsp.get_client_by_id(client) and vim.lsp.get_client_by_id(client).initialized end, 10)
  -- The palette is typed a line at a time, the mistake with it.
  local line = 0
  for text in io.lines(root .. "/typed.yaml") do
    vim.api.nvim_buf_set_lines(palette, line, line == 0 and -1 or line, false, { text })
    line = line + 1
  end
  local found = diagnostics(palette, 1, "dat")
  local d = found[1]
  local range = { start = { line = d.lnum, character = d.col }, ["end"] = { line = d.end_lnum, character = d.end_col } }
  local actions = ask(palette, "textDocument/codeAction", { textDocument = { uri = vim.uri_from_bufnr(palette) }, range = range, context = { diagnostics = {} } })
  say("fix", actions[1].title)
  vim.lsp.util.apply_text_edits(actions[1].edit.changes[vim.uri_from_bufnr(palette)], palette, "utf-16")
  say("line", vim.api.nvim_buf_get_lines(palette, d.lnum, d.lnum + 1, false)[1])
  diagnostics(palette, 0)
  vim.cmd("silent write")

  local script = open("book.dsl", "verbatim")
  vim.api.nvim_buf_set_lines(script, 0, -1, false, { "rooms.b" })
  local list = ask(script, "textDocument/completion", here(script, 0, 7))
  say("offered", list.items[1].label, list.items[2].label)
  vim.lsp.util.apply_text_edits({ list.items[1].textEdit }, script, "utf-16")
  say("line", vim.api.nvim_buf_get_lines(script, 0, 1, false)[1])
  diagnostics(script, 1, "needs")
  say("hover", (ask(script, "textDocument/hover", here(script, 0, 3)).contents.value:match("rooms.book%s+([^\n]+)")))
  vim.api.nvim_buf_set_lines(script, 0, -1, false, { 'rooms.book :team-id @amber-team :room ATRIUM :day 2025-01-20 :note "😀"' })
  diagnostics(script, 0)
  vim.lsp.stop_client(client)
  vim.wait(10000, function() return vim.lsp.client_is_stopped(client) end, 10)
end)
if not ok then say("FAILED", tostring(err)) end
vim.cmd(ok and "qall!" or "cquit!")
