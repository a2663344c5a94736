/**
 * `npm run api`: writes down what each entry point offers, one report each, in `test/package/api`. A change of the public surface is
 * a change of these files, so that it is seen; the test of the package fails where they are not up to date.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { buildPackage, entryPoints, root } from './built.ts';

export const REPORTS = fileURLToPath(new URL('./api', import.meta.url));
const fileOf = (entryPoint: string): string => entryPoint.replaceAll('/', '.');

/** Compares the reports with a built package, or writes them anew. Gives the entry points whose report was other. */
export function report(packageFolder: string, mode: 'compare' | 'write'): readonly string[] {
  mkdirSync(REPORTS, { recursive: true });
  return entryPoints.flatMap(({ name, types }) => {
    const config = ExtractorConfig.prepare({
      packageJsonFullPath: join(packageFolder, 'package.json'),
      configObjectFullPath: undefined,
      configObject: {
        projectFolder: packageFolder,
        mainEntryPointFilePath: join(packageFolder, types),
        newlineKind: 'lf',
        compiler: {
          overrideTsconfig: {
            compilerOptions: {
              ...{ target: 'ES2023', lib: ['ES2023'], module: 'NodeNext', moduleResolution: 'NodeNext' },
              ...{ strict: true, skipLibCheck: true, exactOptionalPropertyTypes: true, types: ['node'] },
              typeRoots: [join(root, 'node_modules', '@types')],
            },
            include: [join(packageFolder, types)],
          },
        },
        apiReport: {
          enabled: true,
          reportFileName: fileOf(name),
          reportFolder: REPORTS,
          reportTempFolder: join(packageFolder, 'api'),
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        messages: {
          compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
          extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
          tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        },
      },
    });
    const { apiReportChanged, errorCount } = Extractor.invoke(config, {
      localBuild: mode === 'write',
      messageCallback: (message) => {
        if (message.logLevel !== ExtractorLogLevel.Error) message.handled = true;
      },
    });
    if (errorCount > 0) throw new Error(`the declarations of ${name} do not compile`);
    return apiReportChanged ? [name] : [];
  });
}

/** What entry points offer without a docstring, names and members of them, by the line of their report. */
export const undocumented = (): readonly string[] =>
  readdirSync(REPORTS).flatMap((file) => {
    const lines = readFileSync(join(REPORTS, file), 'utf8').split('\n');
    return lines.flatMap((line, i) =>
      /^\s*\/\/.*\(undocumented\)$/.test(line) ? [`${file}:${i + 2}: ${lines[i + 1]?.trim()}`] : [],
    );
  });

/** Reports of entry points that are gone. */
export const leftOver = (): readonly string[] =>
  readdirSync(REPORTS).filter((file) => !entryPoints.some(({ name }) => file === `${fileOf(name)}.api.md`));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = mkdtempSync(join(tmpdir(), 'toolop-api-'));
  try {
    await buildPackage(directory);
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    const changed = report(directory, 'write');
    for (const file of leftOver()) rmSync(join(REPORTS, file));
    console.log(changed.length === 0 ? 'the reports were up to date' : `written: ${changed.join(', ')}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
