import { cancelEverywhere } from './cancel-everywhere.ts';

cancelEverywhere('redis');
