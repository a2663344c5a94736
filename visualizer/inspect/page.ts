/** The page of the bridge: the hosted viewer in a frame, and the frames handed to it, and to nobody else. */
import { createHash } from 'node:crypto';

const VIEWER = 'https://stately.ai';
const SCRIPT = `
const viewer = document.getElementById('viewer');
const waiting = [];
let ready = false;
const hand = (frame) => viewer.contentWindow.postMessage(frame, '${VIEWER}');
addEventListener('message', (event) => {
  if (event.origin !== '${VIEWER}' || event.data?.type !== '@statelyai.connected') return;
  ready = true;
  for (const frame of waiting.splice(0)) hand(frame);
});
const socket = new WebSocket('ws://' + location.host + '/');
socket.onmessage = ({ data }) => { const frame = JSON.parse(data); if (ready) hand(frame); else waiting.push(frame); };
socket.onclose = () => { document.title = 'toolop inspector (ended)'; };
`;

const hash = createHash('sha256').update(SCRIPT).digest('base64');
export const PAGE_POLICY = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; frame-src ${VIEWER}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
export const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>toolop inspector</title>
<style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}</style></head>
<body><iframe id="viewer" title="Stately inspector" src="${VIEWER}/inspect"></iframe><script>${SCRIPT}</script></body>
</html>
`;
