-- Starts the server in Neovim before version 0.11, which has no vim.lsp.config.
vim.api.nvim_create_autocmd("FileType", {
  pattern = "markdown",
  callback = function(event)
    local config = { name = "qipu", cmd = { "qipu", "lsp" }, root_dir = vim.fn.getcwd() }
    qipu_client = qipu_client or vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(event.buf, qipu_client)
  end,
})
