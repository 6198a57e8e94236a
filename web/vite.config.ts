import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Relative addresses, so that the page also works behind a proxy with a path of its own.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../src/penstock/rest/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
});
