import { createRoot } from "react-dom/client";
import { takeTokenFromAddress } from "./api/client";
import { probe, reconnect } from "./api/live";
import { App } from "./app";
import { applyTheme } from "./theme";
import "uplot/dist/uPlot.min.css";
import "./style/theme.css";
import "./style/layout.css";
import "./style/parts.css";
import "./style/job.css";

applyTheme();
takeTokenFromAddress();
addEventListener("hashchange", () => {
  // A link with a token that is opened in a tab where the page is already.
  if (!location.hash.includes("token=")) return;
  takeTokenFromAddress();
  reconnect();
  dispatchEvent(new HashChangeEvent("hashchange"));
});
void probe();
createRoot(document.getElementById("app")!).render(<App />);
