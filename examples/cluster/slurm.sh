#!/bin/bash
# Train on two hosts of a Slurm cluster, with GRAPH and RUN on a file system that both see:
#   sbatch examples/cluster/slurm.sh GRAPH RUN [options of ugcl train]
#SBATCH --job-name=ugcl
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
set -euo pipefail

graph=$1 run=$2
shift 2
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}

srun torchrun --nnodes="$SLURM_NNODES" --nproc-per-node=1 --max-restarts=3 \
  --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$first:29500" \
  -m ugcl train "$graph" --out "$run" --resume "$@"
