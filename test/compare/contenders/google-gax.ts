/** `Operation.promise()` of google-gax over its REST transport, set up as a generated client does it. */
import { readFileSync } from 'node:fs';
import gax from 'google-gax';
import type { Told } from '../history.ts';
import { errorText, resultText } from '../text.ts';
import { type Contender, goingOn, type Scene, type Waiting } from './contender.ts';

const { fallback } = gax;
const { protobuf } = fallback;

const SERVICE = `syntax = "proto3";
package test.v1;
message Request { string parent = 1; string request_id = 2; int32 depth = 3; }
message Report { string text = 1; }
message Progress { int32 progress_percent = 1; }
service Reports {
  rpc Generate(Request) returns (google.longrunning.Operation) {
    option (google.api.http) = { post: "/v1/{parent=projects/*}/reports:generate" body: "*" };
  }
}`;

/** What the generator writes for a method that is not idempotent. */
const CONFIG = {
  interfaces: {
    'test.v1.Reports': {
      retry_codes: { non_idempotent: [] },
      retry_params: {
        default: {
          initial_retry_delay_millis: 100,
          retry_delay_multiplier: 1.3,
          max_retry_delay_millis: 60_000,
          initial_rpc_timeout_millis: 60_000,
          rpc_timeout_multiplier: 1,
          max_rpc_timeout_millis: 60_000,
          total_timeout_millis: 600_000,
        },
      },
      methods: {
        Generate: { timeout_millis: 60_000, retry_codes_name: 'non_idempotent', retry_params_name: 'default' },
      },
    },
  },
};

const HTTP_RULES = [
  { selector: 'google.longrunning.Operations.GetOperation', get: '/v1/{name=operations/*}' },
  { selector: 'google.longrunning.Operations.CancelOperation', post: '/v1/{name=operations/*}:cancel', body: '*' },
];

/** Without credentials, and without the library that would look for them; each request is one `fetch`. */
const AUTH = {
  fetch: (url: string, options: RequestInit) => fetch(url, options),
  getRequestHeaders: async () => ({}),
};

type Operation = InstanceType<typeof fallback.Operation>;

export function googleGax(version: string): Contender {
  const root = protoRoot();
  return {
    name: 'google-gax',
    version,
    protocols: ['aip-151'],
    can: ['cancel', 'come-back'],
    notes: [
      'The operation of a fresh call polls under the retry settings of that call, which the generator leaves empty: polls are not retried. One taken up by name (come back) retries UNAVAILABLE and DEADLINE_EXCEEDED.',
      'A rejection counts as failed only when the operation was read as done; every other one claims nothing.',
    ],
    async open(scene, memory) {
      const { generate, find } = await clientOf(root, scene);
      const wait = (finding: Promise<Operation>): Waiting => waitingFor(scene, finding);
      return {
        call: () =>
          wait(
            generate().then((operation) => {
              memory.set('name', operation.name);
              return operation;
            }),
          ),
        comeBack: async () => wait(find(memory.get('name') as string)),
        close: async () => undefined,
      };
    },
    stop: async () => undefined,
  };
}

function protoRoot() {
  const file = new URL('../protos/operations.json', import.meta.resolve('google-gax'));
  const root = protobuf.Root.fromJSON(JSON.parse(readFileSync(file, 'utf8')));
  protobuf.parse(SERVICE, root);
  return root.resolveAll();
}

async function clientOf(root: ReturnType<typeof protoRoot>, scene: Scene) {
  const { hostname, port } = new URL(scene.url);
  const options = { servicePath: hostname, port: Number(port), protocol: 'http', fallback: true, auth: AUTH } as never;
  const grpc = new fallback.GrpcClient(options);
  const operations = fallback
    .lro({ auth: AUTH, protoJson: root, httpRules: HTTP_RULES } as never)
    .operationsClient(options);
  const stub = await grpc.createStub(root.lookupService('test.v1.Reports'), options);
  const [Report, Progress] = [root.lookupType('test.v1.Report'), root.lookupType('test.v1.Progress')];
  const descriptor = new fallback.LongrunningDescriptor(
    operations,
    Report.decode.bind(Report) as never,
    Progress.decode.bind(Progress) as never,
  );
  const settings = grpc.constructSettings('test.v1.Reports', CONFIG as never, {}, {});
  const send = fallback.createApiCall(
    Promise.resolve(stub.generate) as never,
    settings.generate as never,
    descriptor,
  ) as unknown as (request: object, options: object) => Promise<readonly [Operation]>;
  const patience = fallback.createDefaultBackoffSettings();
  if (scene.budgetMs !== undefined) patience.totalTimeoutMillis = scene.budgetMs;
  const requestId = scene.offers === 'look-up' ? { requestId: 'f6f2a31e-6d0b-4bd5-a7a6-5e6a9b0a6a11' } : {};
  return {
    // The request id is the caller's to make and to keep: here it does both, as AIP-155 asks.
    generate: async () => (await send({ ...scene.arguments, ...requestId }, { longrunning: patience }))[0],
    async find(name: string): Promise<Operation> {
      const [found] = await operations.getOperation({ name } as never);
      return new fallback.Operation(found as never, descriptor, fallback.createDefaultBackoffSettings());
    },
  };
}

function waitingFor(scene: Scene, finding: Promise<Operation>): Waiting {
  const told = finding
    .then(settled, (error: unknown): Told => ({ kind: 'error', text: errorText(error) }))
    .then((one) => goingOn(scene, one));
  async function settled(operation: Operation): Promise<Told> {
    try {
      const [result] = (await operation.promise()) as readonly unknown[];
      return { kind: 'completed', text: resultText(result), isError: false };
    } catch (error) {
      const { code } = error as { readonly code?: number };
      if (!operation.latestResponse.done) return { kind: 'error', text: errorText(error) };
      return code === 1 ? { kind: 'cancelled' } : { kind: 'failed', text: errorText(error) };
    }
  }
  return {
    told,
    async cancel() {
      await (await finding).cancel();
    },
    async leave() {
      (await finding).removeAllListeners();
    },
  };
}
