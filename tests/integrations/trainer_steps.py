"""Two steps of the Trainer, to be run on one or several processes: RESULT BATCH_PER_PROCESS."""

import sys

import torch
from tiny_models import S, llama, texts
from transformers import Trainer, TrainingArguments

from simloss.integrations.transformers import trainer_loss


def main(result, batch):
    torch.set_num_threads(1)
    model = llama()
    arguments = TrainingArguments(
        output_dir=result + ".folder", use_cpu=True, report_to="none", save_strategy="no",
        max_steps=2, per_device_train_batch_size=batch, learning_rate=1e-2, disable_tqdm=True,
        dataloader_pin_memory=False, max_grad_norm=0,
        # SGD, because Adam's first steps are the same for gradients of any size.
        optim="sgd",
    )  # fmt: skip
    loss = trainer_loss(S, head_of=model)
    Trainer(model, arguments, train_dataset=texts(), compute_loss_func=loss).train()
    if arguments.process_index == 0:
        torch.save(model.state_dict(), result)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
