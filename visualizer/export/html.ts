/** One operation as one file that opens anywhere: the page itself, with its style and its script inside, and no way out. */
import { createHash } from 'node:crypto';
import { type PageFiles, pageHtml } from '../web/page-files.ts';
import type { OperationExport } from './schema.ts';

export function exportHtml(files: PageFiles, exported: OperationExport, states: readonly string[]): string {
  // Neither may end its element; both are the build's own.
  const script = files.script.replaceAll('</script', '<\\/script');
  const style = files.style.replaceAll('</style', '<\\/style');
  const html = pageHtml(
    files,
    {
      ledger: exported.redacted ? 'exported, redacted' : 'exported, with secrets',
      namespace: exported.view.namespace,
      actions: false,
      token: null,
      states: [...states],
      fixed: exported.view,
    },
    {
      style: `${policy(script, style)}\n<style>${style}</style>`,
      script: `<script type="module">${script}</script>\n${data(exported)}`,
    },
  );
  return html;
}

/** Only this script and this style: whatever a server has said cannot become either. */
function policy(script: string, style: string): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const rules = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<meta http-equiv="content-security-policy" content="${rules}">`;
}

/** The JSON export, inside, for a machine that reads the file. */
const data = (exported: OperationExport): string =>
  `<script type="application/json" id="export">${JSON.stringify(exported).replaceAll('<', '\\u003c')}</script>`;
