import { cancelEverywhere } from './cancel-everywhere.ts';

cancelEverywhere('embedded');
